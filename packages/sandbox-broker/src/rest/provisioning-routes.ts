// The provisioning API: which accounts there are, and switching them on and off.
import { utcText } from '../numbers/clock-text.ts'
import type { Account } from '../books/account.ts'
import type { Core, Grant } from '../core.ts'
import type { Context, Route } from './context.ts'
import { accountNotFound, invalid, ok, type Reply } from './reply.ts'
import { checkPage } from './validate.ts'

export const visibleAccount = (core: Core, grant: Grant, id: string): Account | undefined =>
  grant.accounts === undefined || grant.accounts.has(id) ? core.accounts.get(id) : undefined

const accountRow = (core: Core, { settings, deployment }: Account) => ({
  _id: settings.id,
  login: settings.login,
  name: settings.name,
  server: settings.server,
  version: settings.platform === 'mt4' ? 4 : 5,
  type: 'cloud-g2',
  state: deployment.state,
  connectionStatus: deployment.connectionStatus,
  region: deployment.region,
  reliability: 'regular',
  magic: 0,
  baseCurrency: 'USD',
  manualTrades: false,
  primaryReplica: true,
  accountReplicas: [],
  connections: [],
  tags: [],
  copyFactoryRoles: [],
  resourceSlots: 1,
  copyFactoryResourceSlots: 1,
  quoteStreamingIntervalInSeconds: 2.5,
  createdAt: utcText(core.anchor),
  metastatsApiEnabled: false,
  riskManagementApiEnabled: false,
})

const listAccounts = ({ core, grant, query, headers }: Context): Reply => {
  const page = checkPage(query)
  const version = headers['api-version'] ?? '1'
  const details =
    version === '1' || version === '2' ? page.details : [...page.details, { parameter: 'api-version', message: 'Value must be 1 or 2' }]
  if (details.length > 0) return invalid(details)
  const asked = (parameter: string): readonly string[] => [...query.getAll(parameter), ...query.getAll(`${parameter}[]`)]
  const isAsked = (parameter: string, value: string): boolean => asked(parameter).length === 0 || asked(parameter).includes(value)
  const text = query.get('query') ?? ''
  const rows = [...core.accounts.values()]
    .filter((account) => visibleAccount(core, grant, account.settings.id) !== undefined)
    .map((account) => accountRow(core, account))
    .filter((row) => isAsked('state', row.state) && isAsked('connectionStatus', row.connectionStatus) && isAsked('region', row.region))
    .filter((row) => isAsked('version', String(row.version)) && isAsked('type', row.type))
    .filter((row) => [row._id, row.name, row.server, row.login].some((value) => value.includes(text)))
  const items = rows.slice(page.value.offset, page.value.offset + page.value.limit)
  return ok(version === '2' ? { count: rows.length, items } : items)
}

const withAccount =
  (carryOut: (core: Core, account: Account) => Reply) =>
  ({ core, grant, params }: Context): Reply => {
    const id = params['accountId'] ?? ''
    const account = visibleAccount(core, grant, id)
    return account === undefined ? accountNotFound(id) : carryOut(core, account)
  }

const deploy = (state: string, connectionStatus: string) =>
  withAccount((_core, account) => {
    account.deployment.state = state
    account.deployment.connectionStatus = connectionStatus
    account.revision++
    return { status: 204 }
  })

export const provisioningRoutes: readonly Route[] = [
  { name: 'regions', api: 'provisioning', method: 'GET', path: '/users/current/regions', handle: ({ core }) => ok([...core.regions]) },
  { name: 'accounts', api: 'provisioning', method: 'GET', path: '/users/current/accounts', handle: listAccounts },
  {
    name: 'account',
    api: 'provisioning',
    method: 'GET',
    path: '/users/current/accounts/:accountId',
    handle: withAccount((core, account) => ok(accountRow(core, account))),
  },
  {
    name: 'deploy',
    api: 'provisioning',
    method: 'POST',
    path: '/users/current/accounts/:accountId/deploy',
    handle: deploy('DEPLOYED', 'CONNECTED'),
  },
  {
    name: 'undeploy',
    api: 'provisioning',
    method: 'POST',
    path: '/users/current/accounts/:accountId/undeploy',
    handle: deploy('UNDEPLOYED', 'DISCONNECTED'),
  },
]
