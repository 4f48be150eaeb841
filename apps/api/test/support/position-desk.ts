// Positions as a caller reads and changes them, and the broker's own book to hold the answers against.
import type { AccountControl, AccountOptions, DealRow, PositionRow, Sandbox } from '@tradeport/sandbox-broker'
import { openDesk } from './order-desk.ts'
import type { DeskOptions } from './order-desk.ts'
import { providerToken } from './running-service.ts'
import type { Reply, RunningService } from './running-service.ts'
import { linkDocument, newAccountUuid } from './trading-user.ts'

export interface PositionDesk {
  /** GET /positions of the account. */
  readonly list: () => Promise<Reply>
  /** GET /positions/:id. */
  readonly find: (ticket: string) => Promise<Reply>
  readonly moveStopLoss: (ticket: string, value: number) => Promise<Reply>
  readonly moveTakeProfit: (ticket: string, value: number) => Promise<Reply>
  /** All lots, unless some are named. */
  readonly close: (ticket: string, volume?: number, headers?: Readonly<Record<string, string>>) => Promise<Reply>
  readonly get: (path: string) => Promise<Reply>
}

export const openPositionDesk = (service: Pick<RunningService, 'apiUrl'>, { key, accountId }: DeskOptions): PositionDesk => {
  const { call, get } = openDesk(service, { key, accountId })
  const path = (ticket: string, change = ''): string => `/positions/${accountId}:${ticket}${change}`
  return {
    list: () => get(`/positions?accountId=${accountId}`),
    find: (ticket) => get(path(ticket)),
    moveStopLoss: (ticket, value) => call('PUT', path(ticket, '/sl'), { value }),
    moveTakeProfit: (ticket, value) => call('PUT', path(ticket, '/tp'), { value }),
    close: (ticket, volume, headers) => call('POST', path(ticket, '/close'), volume === undefined ? {} : { volume }, headers),
    get,
  }
}

/** A desk with its account at the broker. */
export interface LinkedDesk extends PositionDesk {
  readonly accountId: string
  readonly provider: string
  readonly broker: AccountControl
  /** The id of a position of the account. */
  readonly idOf: (ticket: string) => string
  /** Opens a position at the broker and gives its ticket: 0.4 lots of EURUSD, bought, unless it says otherwise. */
  readonly open: (order?: object) => string
  readonly held: () => readonly Held[]
  /** How many changes and orders reached the broker. */
  readonly sends: () => number
}

/** Links accounts to one user, one after the other. */
export const linkingDesks = (service: RunningService, { user, key }: { readonly user: string; readonly key: string }) => {
  let linked = 0
  return async (options: Partial<AccountOptions> = {}, fields: object = {}): Promise<LinkedDesk> => {
    linked += 1
    const { sandbox } = service
    const [accountId, provider] = [newAccountUuid(linked), `${user}-${linked}`]
    sandbox.addAccount({ id: provider, ...options })
    const links = [{ id: accountId, providerAccountId: provider, fields: { brokerType: options.platform ?? 'mt5', ...fields } }]
    await service.setUp(linkDocument({ tenant: 'acme', user, key, providerToken }, links, ['trading:read', 'trading:write']))
    const broker = sandbox.account(provider)
    const opening = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.4 }
    return {
      ...openPositionDesk(service, { key, accountId }),
      accountId,
      provider,
      broker,
      idOf: (ticket) => `${accountId}:${ticket}`,
      open: (order) => broker.trade({ ...opening, ...order }).positionId ?? '',
      held: () => heldOn(sandbox, provider),
      sends: () => sandbox.requests.count({ account: provider, route: 'trade' }),
    }
  }
}

/** What the broker holds of a position, whatever is said of it. */
export interface Held {
  readonly ticket: string
  readonly volume: number
  readonly stopLoss: number | undefined
  readonly takeProfit: number | undefined
}

export const heldOn = (sandbox: Sandbox, provider: string): readonly Held[] => sandbox.account(provider).positions().map(heldOf)

export const heldOf = ({ id, volume, stopLoss, takeProfit }: PositionRow): Held => ({ ticket: id, volume, stopLoss, takeProfit })

/** The deals that closed something. */
export const closingDealsOn = (sandbox: Sandbox, provider: string): readonly DealRow[] =>
  sandbox
    .account(provider)
    .deals()
    .filter((deal) => deal['entryType'] === 'DEAL_ENTRY_OUT')
