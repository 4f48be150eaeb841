// The queue of notices as an instance of the service works on it.
import { openOwnerNotices, startJobs } from '../src/index.ts'
import { silent } from './open-stores.ts'
import type { Database, Jobs, Log, OpenedOwnerNotices } from '../src/index.ts'

export interface NoticeInstance {
  readonly jobs: Jobs
  readonly notices: OpenedOwnerNotices
}

/** An instance of the service as far as notices to owners are concerned. */
export const startNotices = async (
  { knex }: Pick<Database, 'knex'>,
  { log = silent, pauseSeconds = 5 }: { readonly log?: Log; readonly pauseSeconds?: number } = {},
): Promise<NoticeInstance> => {
  const jobs = await startJobs({ knex, log, superviseSeconds: 1 })
  return { jobs, notices: await openOwnerNotices(jobs, { pollSeconds: 0.5, pauseSeconds }) }
}
