// Positions as a caller reads and changes them, and the broker's own book to hold the answers against.
import type { DealRow, PositionRow, Sandbox } from '@tradeport/sandbox-broker'
import { openDesk } from './order-desk.ts'
import type { DeskOptions } from './order-desk.ts'
import type { Reply, RunningService } from './running-service.ts'

export interface PositionDesk {
  /** GET /positions of the account. */
  readonly list: () => Promise<Reply>
  /** GET /positions/:id. */
  readonly find: (ticket: string) => Promise<Reply>
  readonly moveStopLoss: (ticket: string, value: number) => Promise<Reply>
  readonly moveTakeProfit: (ticket: string, value: number) => Promise<Reply>
  /** All lots, unless some are named. */
  readonly close: (ticket: string, volume?: number) => Promise<Reply>
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
    close: (ticket, volume) => call('POST', path(ticket, '/close'), volume === undefined ? {} : { volume }),
    get,
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
