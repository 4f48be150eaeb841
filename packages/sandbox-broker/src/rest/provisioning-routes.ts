// The provisioning API: which accounts there are.
import { Router } from '@koa/router'
import { utcText } from '../numbers/clock-text.ts'
import type { Account } from '../books/account.ts'
import type { Core } from '../core.ts'
import type { State } from './context.ts'

const accountRow = (core: Core, { settings }: Account) => ({
  _id: settings.id,
  login: settings.login,
  name: settings.name,
  server: settings.server,
  version: settings.platform === 'mt4' ? 4 : 5,
  type: 'cloud-g2',
  state: 'DEPLOYED',
  connectionStatus: 'CONNECTED',
  region: settings.region,
  magic: 0,
  createdAt: utcText(core.anchor),
})

/** Of all accounts. */
export const accountListRoutes = new Router<State>().get('accounts', '/accounts', (ctx) => {
  const { core } = ctx.state
  ctx.body = [...core.accounts.values()].map((account) => accountRow(core, account))
})

/** Of one account. */
export const accountRoutes = new Router<State>().get('account', '/', (ctx) => {
  ctx.body = accountRow(ctx.state.core, ctx.state.account)
})
