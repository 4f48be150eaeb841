// One tenant with all that belongs to it: for people the beginning of each list, for programs the
// whole.
import type { AccessToken, Account, ApiKey, Desk, TenantView, User } from '../records.ts'
import { openSession } from '../session.ts'
import type { CommonOptions, Session } from '../session.ts'
import type { Columns } from '../table.ts'
import type { World } from '../world.ts'
import {
  accountColumns,
  challengeColumns,
  deskColumns,
  keyColumns,
  limitColumns,
  tokenColumns,
  userColumns,
} from './columns.ts'
import { collected, recordsOf } from './lists.ts'

const shownOfEach = 20

export const showTenant = async (
  world: World,
  id: string,
  options: CommonOptions,
): Promise<void> => {
  const session = await openSession(world, options)
  const path = `/tenants/${encodeURIComponent(id)}`
  const tenant = await session.api.get<TenantView>(path)
  const most = session.isJson ? Infinity : shownOfEach
  const all = <A>(below: string): Promise<readonly A[]> =>
    collected(recordsOf<A>(session, `${path}/${below}`, {}, most))
  const users = await all<User>('users')
  const accounts = await all<Account>('accounts')
  const apiKeys = await all<ApiKey>('api-keys')
  const accessTokens = await all<AccessToken>('access-tokens')
  const desks = await all<Desk>('desks')
  session.json({ ...tenant, users, accounts, apiKeys, accessTokens, desks })
  if (session.isJson) return

  const { counts } = tenant
  session.say(`${session.styled('bold', tenant.id)}  ${tenant.name}`)
  session.say(
    `provider token: ${tenant.hasProviderToken ? 'set' : 'not set; no account of this tenant can be read until it is'}`,
  )
  section(session, 'Users', users, userColumns, {
    count: counts.users,
    more: `users list --tenant ${id}`,
  })
  section(session, 'Accounts', accounts, accountColumns, {
    count: counts.accounts,
    more: `accounts list --tenant ${id}`,
  })
  section(session, 'API keys', apiKeys, keyColumns, {
    count: counts.apiKeys,
    more: `keys list --tenant ${id}`,
  })
  section(session, 'Access tokens', accessTokens, tokenColumns, {
    count: counts.accessTokens,
    more: `tokens list --tenant ${id}`,
  })
  section(session, 'Desks', desks, deskColumns, {
    count: counts.desks,
    more: `desks list --tenant ${id}`,
  })
  const limits = accounts.flatMap(({ id: accountId, limits: held }) =>
    held === null ? [] : [{ id: accountId, limits: held }],
  )
  section(session, 'Limits of these accounts', limits, limitColumns)
  const challenges = accounts.flatMap(({ id: accountId, challenges: held }) =>
    held.map((challenge) => ({ id: accountId, ...challenge })),
  )
  section(session, 'Challenges of these accounts', challenges, challengeColumns)
}

interface Rest {
  readonly count: number
  /** The command that lists all of them. */
  readonly more: string
}

const section = <A>(
  session: Session,
  title: string,
  rows: readonly A[],
  columns: Columns<A>,
  rest?: Rest,
): void => {
  session.say(`\n${session.styled('bold', title)}${rest === undefined ? '' : ` (${rest.count})`}`)
  if (rows.length === 0) return session.say('none')
  session.table(columns, rows)
  if (rest !== undefined && rest.count > rows.length)
    session.say(
      session.styled('dim', `${rest.count - rows.length} more: pnpm operator ${rest.more}`),
    )
}
