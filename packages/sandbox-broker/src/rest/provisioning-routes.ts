// The provisioning API: which accounts there are, and switching them on and off.
import { Router } from '@koa/router'
import { utcText } from '../numbers/clock-text.ts'
import type { Account } from '../books/account.ts'
import type { Core } from '../core.ts'
import type { Handler, State } from './context.ts'
import { visibleAccount } from './middlewares.ts'
import { invalid } from './reply.ts'
import { checkPage, queryValues } from './validate.ts'

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

const listAccounts: Handler = (ctx) => {
  const { core, grant } = ctx.state
  const page = checkPage(ctx)
  const version = ctx.get('api-version') || '1'
  const details =
    version === '1' || version === '2' ? page.details : [...page.details, { parameter: 'api-version', message: 'Value must be 1 or 2' }]
  if (details.length > 0) return invalid(details)(ctx)
  const isAsked = (parameter: string, value: string): boolean => {
    const asked = [...queryValues(ctx, parameter), ...queryValues(ctx, `${parameter}[]`)]
    return asked.length === 0 || asked.includes(value)
  }
  const [text = ''] = queryValues(ctx, 'query')
  const rows = [...core.accounts.values()]
    .filter((account) => visibleAccount(core, grant, account.settings.id) !== undefined)
    .map((account) => accountRow(core, account))
    .filter((row) => isAsked('state', row.state) && isAsked('connectionStatus', row.connectionStatus) && isAsked('region', row.region))
    .filter((row) => isAsked('version', String(row.version)) && isAsked('type', row.type))
    .filter((row) => [row._id, row.name, row.server, row.login].some((value) => value.includes(text)))
  const items = rows.slice(page.value.offset, page.value.offset + page.value.limit)
  ctx.body = version === '2' ? { count: rows.length, items } : items
}

const deploy =
  (state: string, connectionStatus: string): Handler =>
  (ctx) => {
    const { account } = ctx.state
    Object.assign(account.deployment, { state, connectionStatus })
    account.revision++
    ctx.status = 204
  }

/** Of all accounts. */
export const accountListRoutes = new Router<State>()
  .get('regions', '/regions', (ctx) => {
    ctx.body = [...ctx.state.core.regions]
  })
  .get('accounts', '/accounts', listAccounts)

/** Of one account. */
export const accountRoutes = new Router<State>()
  .get('account', '/', (ctx) => {
    ctx.body = accountRow(ctx.state.core, ctx.state.account)
  })
  .post('deploy', '/deploy', deploy('DEPLOYED', 'CONNECTED'))
  .post('undeploy', '/undeploy', deploy('UNDEPLOYED', 'DISCONNECTED'))
