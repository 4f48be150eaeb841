// After a close was made: looks for what the account's book and history show of it, for two seconds at the most (decision 32).
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
import type { DecidedClose, ShownClose, TakenClose } from './send-close.ts'
import { watch } from './watch.ts'

/** What was seen of a close; undefined where it was not to be seen. */
export interface SeenClose {
  readonly shown: ShownClose | undefined
  readonly fill: ClosingFill | undefined
}

interface Ports extends Pauser {
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'closingDeals'>
}

// The book is read until it shows the close, so that whoever changes the position next finds it as it is; the history, where its deals can be told from
// those of other closes, until it has deals of as many lots as the book says were closed, or while it does not say, of as many as were sent.
export const lookAtClose =
  (ports: Ports) =>
  (close: DecidedClose, taken: TakenClose): T.Task<SeenClose> =>
  async () => {
    const { brokerAccount, id } = close.target
    let { shown } = taken
    let deals: readonly ClosingDeal[] = []
    const fill = (): ClosingFill | undefined => closingFillOf(deals, taken, (shown?.outcome ?? outcomeAsSent(close.order)).closedVolume)

    const lookAtBook = async (): Promise<boolean> => {
      if (shown !== undefined) return true
      const read = await ports.positionDesk.freshPositions(brokerAccount)()
      if (E.isLeft(read)) return isWorthAnother(read.left)
      shown = showClose(close)(read.right)
      return true
    }
    const isLookedFor = areDealsTellable(brokerAccount, taken)
    const lookAtHistory = async (): Promise<boolean> => {
      if (!isLookedFor || fill() !== undefined) return true
      const read = await ports.positionDesk.closingDeals(brokerAccount, id.ticket)()
      if (E.isLeft(read)) return isWorthAnother(read.left)
      deals = read.right
      return true
    }
    await watch(ports)(async () => {
      const areWorthAnother = await Promise.all([lookAtBook(), lookAtHistory()])
      return areWorthAnother.includes(false) || (shown !== undefined && (!isLookedFor || fill() !== undefined))
    })()
    return { shown, fill: fill() }
  }

// By the number of the order that closed, which a lost answer does not tell: then a close just before it, of as many lots, would look the same. On MT4 a
// number is closed once, whatever part of it, and the rest goes on under another.
const areDealsTellable = ({ platform }: BrokerAccount, { orderId }: TakenClose): boolean => orderId !== null || platform === 'mt4'

// A broker that asks to wait is not asked again, nor is one that has no such account.
const isWorthAnother = ({ _tag }: BrokerReadError): boolean => _tag === 'BrokerUnavailable'
