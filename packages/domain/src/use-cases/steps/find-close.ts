// After a close was sent: looks for it in the account's positions and in its journal, for at most
// two seconds.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerReadError, ServiceUnavailable } from '../../errors.ts'
import { dealKey } from '../../journal/broker-deal.ts'
import type { BrokerDeal } from '../../journal/broker-deal.ts'
import type { Clock, Pauser } from '../../ports/clock.ts'
import type { Journal } from '../../ports/journal.ts'
import type { PositionDesk } from '../../ports/position-desk.ts'
import { closeFillOf } from '../../journal/close-fill.ts'
import type { CloseFill } from '../../journal/close-fill.ts'
import { outcomeAsSent } from '../../positions/close.ts'
import { dayMs } from '../../primitives/instant.ts'
import type { SynchroniseJournal } from '../synchronise-journal.ts'
import { showClose, watch } from './change-target.ts'
import type { ChangeTarget, DecidedClose, ReceivedClose, ShownClose } from './change-target.ts'

/** What was found of a close; undefined where nothing was. */
export interface FoundClose {
  readonly shown: ShownClose | undefined
  readonly fill: CloseFill | undefined
}

/** The keys of deals that certainly belong to no close that is still to be sent. */
export type EarlierDeals = ReadonlySet<string>

/**
 * On MT4 every close has the number of its position, so that deals of earlier closes look alike;
 * elsewhere each has a number of its own.
 */
export const findEarlierDeals =
  ({ journal }: Pick<Ports, 'journal'>) =>
  ({ brokerAccount, id }: ChangeTarget): TE.TaskEither<ServiceUnavailable, EarlierDeals> =>
    brokerAccount.platform === 'mt5'
      ? TE.right(new Set())
      : pipe(
          journal.closingDeals(brokerAccount, id.ticket, 0),
          TE.map((deals) => new Set(deals.map(dealKey))),
        )

interface Ports extends Pauser {
  readonly positionDesk: Pick<PositionDesk, 'freshPositions'>
  readonly synchroniseJournal: SynchroniseJournal
  readonly journal: Pick<Journal, 'closingDeals'>
  readonly clock: Clock
}

// The positions are read until they show the close, so that the next change of the position finds
// it as it is. The journal is read until it has deals of the closing order with the volume that was
// closed. Where the broker named no order nothing says which deals are this close's.
export const findClose =
  (ports: Ports) =>
  (
    close: DecidedClose & { readonly earlierDeals: EarlierDeals },
    receipt: ReceivedClose,
  ): T.Task<FoundClose> =>
  async () => {
    const { brokerAccount } = close.target
    const { orderId } = receipt
    let { shown } = receipt
    let deals: readonly BrokerDeal[] = []
    const fill = (): CloseFill | undefined =>
      closeFillOf(deals, (shown?.outcome ?? outcomeAsSent(close.order)).closedVolume)

    const isShown = async (): Promise<boolean> => {
      const read = await ports.positionDesk.freshPositions(brokerAccount)()
      if (E.isLeft(read)) return isFinal(read.left)
      shown = showClose(close)(read.right)
      return shown !== undefined
    }
    const isFilled = async (): Promise<boolean> => {
      if (orderId === null) return true
      const synchronised = await ports.synchroniseJournal(brokerAccount, ports.clock.now())()
      if (E.isLeft(synchronised)) return isFinal(synchronised.left)
      // By the broker's clock, which may be far from ours.
      const from = (synchronised.right.latestDealAt ?? 0) - dayMs
      const found = await ports.journal.closingDeals(brokerAccount, orderId, from)()
      if (E.isRight(found))
        deals = found.right.filter((deal) => !close.earlierDeals.has(dealKey(deal)))
      return fill() !== undefined
    }
    // Each by itself: a first read of a long history must not delay the positions.
    await Promise.all([
      shown === undefined ? watch(ports)(isShown)() : undefined,
      watch(ports)(isFilled)(),
    ])
    return { shown, fill: fill() }
  }

// A rate limit, or an account that the provider does not have, does not pass within two seconds.
const isFinal = ({
  _tag,
}: {
  readonly _tag: BrokerReadError['_tag'] | 'ServiceUnavailable'
}): boolean => _tag !== 'BrokerUnavailable' && _tag !== 'ServiceUnavailable'
