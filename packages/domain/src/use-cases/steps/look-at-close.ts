// After a close was sent: looks for it in the account's positions and history, for at most two seconds.
import * as E from 'fp-ts/lib/Either.js'
import type * as T from 'fp-ts/lib/Task.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import type { BrokerReadError } from '../../errors.ts'
import type { Pauser } from '../../ports/clock.ts'
import type { PositionDesk } from '../../ports/position-desk.ts'
import { outcomeAsSent } from '../../positions/close.ts'
import { closingFillOf } from '../../positions/closing-deals.ts'
import type { ClosingDeal, ClosingFill } from '../../positions/closing-deals.ts'
import { showClose } from './send-close.ts'
import type { DecidedClose, ReceivedClose, ShownClose } from './send-close.ts'
import { watch } from './watch.ts'

/** What was found of a close; undefined where nothing was. */
export interface SeenClose {
  readonly shown: ShownClose | undefined
  readonly fill: ClosingFill | undefined
}

interface Ports extends Pauser {
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'closingDeals'>
}

// The positions are read until they show the close, so that the next change of the position finds it as it is. The history is read, where the close's deals
// can be distinguished from those of others, until it has deals of as many lots as the positions show to be closed, or as were sent while they do not show it.
export const lookAtClose =
  (ports: Ports) =>
  (close: DecidedClose, receipt: ReceivedClose): T.Task<SeenClose> =>
  async () => {
    const { brokerAccount, id } = close.target
    let { shown } = receipt
    let deals: readonly ClosingDeal[] = []
    const fill = (): ClosingFill | undefined => closingFillOf(deals, receipt, (shown?.outcome ?? outcomeAsSent(close.order)).closedVolume)

    const readPositions = async (): Promise<boolean> => {
      if (shown !== undefined) return true
      const read = await ports.positionDesk.freshPositions(brokerAccount)()
      if (E.isLeft(read)) return isWorthAnother(read.left)
      shown = showClose(close)(read.right)
      return true
    }
    const hasOwnDeals = areDealsDistinguishable(brokerAccount, receipt)
    const readHistory = async (): Promise<boolean> => {
      if (!hasOwnDeals || fill() !== undefined) return true
      const read = await ports.positionDesk.closingDeals(brokerAccount, id.ticket)()
      if (E.isLeft(read)) return isWorthAnother(read.left)
      deals = read.right
      return true
    }
    await watch(ports)(async () => {
      const areWorthAnother = await Promise.all([readPositions(), readHistory()])
      return areWorthAnother.includes(false) || (shown !== undefined && (!hasOwnDeals || fill() !== undefined))
    })()
    return { shown, fill: fill() }
  }

// By the number of the closing order, which a lost answer does not give: an earlier close of as many lots would look the same. On MT4 a ticket is closed once,
// whatever part of it, and the rest continues under another.
const areDealsDistinguishable = ({ platform }: BrokerAccount, { orderId }: ReceivedClose): boolean => orderId !== null || platform === 'mt4'

// Not after a rate limit, nor where the provider has no such account.
const isWorthAnother = ({ _tag }: BrokerReadError): boolean => _tag === 'BrokerUnavailable'
