// Opens what the contract suite of notices needs: the queue here and as another instance sees it.
import { setTimeout } from 'node:timers/promises'
import type { NoticePorts, OpenNoticePorts } from '@tradeport/domain/testing'
import { openDatabase, openOwnerNotices, startJobs } from '../src/index.ts'
import type { Database, Jobs, Log, OpenedOwnerNotices } from '../src/index.ts'
import { createServerDatabase, openEmbedded } from './open-stores.ts'

export interface NoticeInstance {
  readonly jobs: Jobs
  readonly notices: OpenedOwnerNotices
}

/** An instance of the service as far as notices are concerned. */
export const startNotices = async (
  { knex }: Database,
  log: Log = { warn: () => undefined },
  pause: { readonly pauseSeconds?: number } = {},
): Promise<NoticeInstance> => {
  const jobs = await startJobs({ knex, log, superviseSeconds: 1 })
  return { jobs, notices: await openOwnerNotices(jobs, { pollMs: 100, ...pause }) }
}

const portsOf = ({ jobs, notices }: NoticeInstance, elsewhere: NoticeInstance): NoticePorts => ({
  notices,
  elsewhere: elsewhere.notices,
  jobs: notices,
  elapse: async (ms) => {
    await setTimeout(ms)
  },
  forget: async () => {
    await jobs.knex.raw(`update pgboss.job set started_on = started_on - interval '1 hour' where state = 'active'`)
  },
})

export const openNoticesEmbedded: OpenNoticePorts = async () => {
  const { database, close } = await openEmbedded()
  const instance = await startNotices(database, undefined, { pauseSeconds: 1 })
  return {
    ports: portsOf(instance, instance),
    close: async () => {
      await instance.jobs.stop()
      await close()
    },
  }
}

/** Two instances with pools of their own on one server. */
export const openNoticesOnServer: OpenNoticePorts = async () => {
  const { url, drop } = await createServerDatabase()
  const databases = await Promise.all([openDatabase({ url }), openDatabase({ url })])
  const [first, second] = await Promise.all([
    startNotices(databases[0], undefined, { pauseSeconds: 1 }),
    startNotices(databases[1], undefined, { pauseSeconds: 1 }),
  ])
  return {
    ports: portsOf(first, second),
    close: async () => {
      await Promise.all([first.jobs.stop(), second.jobs.stop()])
      await Promise.all(databases.map(({ close }) => close()))
      await drop()
    },
  }
}
