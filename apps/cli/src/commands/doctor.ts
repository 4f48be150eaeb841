// Looks at what the service stands on and at each tenant's provider token: a line for each thing,
// and under what is wrong what to do.
import { CommandFailure } from '../failure.ts'
import type { Check, Tenant } from '../records.ts'
import { openSession } from '../session.ts'
import type { CommonOptions, Session } from '../session.ts'
import type { World } from '../world.ts'
import { collected, recordsOf } from './lists.ts'

export interface DoctorOptions extends CommonOptions {
  readonly tenant?: string | undefined
}

interface FoundCheck extends Check {
  /** null: of the service itself. */
  readonly tenant: string | null
}

/** How many tenants are looked at together: each is a request to the provider. */
const together = 4

const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export const examine = async (world: World, options: DoctorOptions): Promise<void> => {
  const session = await openSession(world, options)
  const found: FoundCheck[] = []
  const tell = (tenant: string | null, checks: readonly Check[]): void => {
    for (const check of checks) {
      found.push({ tenant, ...check })
      session.say(lineOf(session, tenant, check))
    }
  }
  const ofService = await session.api.get<readonly Check[]>('/doctor')
  tell(null, [
    {
      name: 'service',
      status: 'ok',
      message: `It answers at ${session.api.url}, and takes the token.`,
      action: null,
    },
  ])
  tell(null, ofService)
  // Without the database nobody knows which tenants there are; that is told already.
  const isReadable = found.every(({ name, status }) => name !== 'database' || status !== 'fail')
  const tenants = isReadable ? await tenantsOf(session, options.tenant) : []
  for (let first = 0; first < tenants.length; first += together) {
    const some = tenants.slice(first, first + together)
    const checks = await Promise.all(
      some.map((id) =>
        session.api.get<readonly Check[]>(`/tenants/${encodeURIComponent(id)}/doctor`),
      ),
    )
    for (const [index, id] of some.entries()) tell(id, checks[index] ?? [])
  }
  session.json({ checks: found })
  const failed = found.filter(({ status }) => status === 'fail').length
  if (failed === 0) return
  throw new CommandFailure(`${failed} of ${found.length} checks failed.`, {
    code: 'UNHEALTHY',
    advice: ['What to do stands beside each.'],
  })
}

const tenantsOf = async (
  session: Session,
  tenant: string | undefined,
): Promise<readonly string[]> => {
  if (tenant !== undefined) return [tenant]
  return (await collected(recordsOf<Tenant>(session, '/tenants', {}, Infinity))).map(({ id }) => id)
}

const lineOf = (
  { styled }: Session,
  tenant: string | null,
  { name, status, message, action }: Check,
): string => {
  const what = tenant === null ? name : `${name} of ${tenant}`
  const line = `${styled(styles[status], status.padEnd(4))}  ${what}: ${message}`
  return action === null ? line : `${line}\n      ${action}`
}
