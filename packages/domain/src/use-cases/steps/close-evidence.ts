// What shows whether a close that was sent was made, and at which price: the positions that are open
// afterwards, and the closing deals of the journal.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import { dealKey, type BrokerDeal } from '../../journal/broker-deal.ts'
import { closeFillOf, type CloseFill } from '../../journal/close-fill.ts'
import type { Ports } from '../../ports/index.ts'
import {
  closeShownBy,
  isDoneAsSent,
  isReversed,
  type CloseOutcome,
  type CloseRequest,
} from '../../positions/close.ts'
import type { PositionsReading } from '../../positions/position.ts'
import type { PositionId } from '../../primitives/ids.ts'
import { dayMs, secondMs } from '../../primitives/instant.ts'
import type { OpenPosition } from '../positions.ts'
import type { SynchroniseJournal } from '../synchronise-journal.ts'
import { isTransient, readUntilInTime, readWithin } from './broker-change.ts'

export interface EvidencePorts extends Pick<
  Ports,
  'journal' | 'positionTrading' | 'clock' | 'pause'
> {
  readonly trades: Pick<Ports['trades'], 'find'>
  readonly synchroniseJournal: SynchroniseJournal
}

/** The position to change; it may be closed by now. */
export interface ChangeTarget {
  readonly id: PositionId
  readonly brokerAccount: BrokerAccount
}

/** A close that may be sent. */
export interface CloseToSend {
  readonly target: ChangeTarget
  /** The position as it was read before the close was sent. */
  readonly before: OpenPosition
  readonly request: CloseRequest
  /**
   * The keys of closing deals that were there before, and so do not belong to this close; undefined
   * where that cannot be read in time.
   */
  readonly earlierDeals: ReadonlySet<string> | undefined
}

/** What a read of the account shows of a close. */
export interface ShownClose {
  readonly outcome: CloseOutcome
  readonly reading: PositionsReading
}

/** What is known of a close that was made. */
interface CloseEvidence {
  readonly shown: ShownClose | undefined
  readonly fill: CloseFill | undefined
}

/** A close that the broker accepted, or that a read shows to be done. */
export interface AcceptedClose {
  /** The broker's number of the closing order; null where its answer did not have one. */
  readonly brokerOrderId: string | null
  /** Whether the broker reported all of it done; otherwise only a read shows how much was. */
  readonly isConfirmed: boolean
  /** Undefined where no read has shown it. */
  readonly shown: ShownClose | undefined
}

/** How long a close waits for a read of the journal before it is sent, and for one after its polls. */
const maxJournalWaitMs = secondMs / 2

export const createCloseEvidence = (ports: EvidencePorts) => {
  const { positionTrading, journal, clock } = ports

  /**
   * On MT4 every close has the number of its position, so that deals of earlier closes look alike;
   * elsewhere each has a number of its own.
   */
  const findEarlierDeals = async ({
    brokerAccount,
    id,
  }: ChangeTarget): Promise<CloseToSend['earlierDeals']> => {
    if (brokerAccount.platform === 'mt5') return new Set()
    const reading = pipe(
      ports.synchroniseJournal(brokerAccount, clock.now()),
      TE.flatMap(() => journal.closingDeals(brokerAccount, id.ticket, 0)),
    )
    const deals = await readWithin(ports, maxJournalWaitMs, reading)
    return deals && new Set(deals.map(dealKey))
  }

  /**
   * Looks for a close that was sent, for at most two seconds. The positions are read until they
   * show the whole close, so that the next change starts from the current state; the broker may
   * still be executing it. The journal is read until it has deals of the closing order with the
   * volume that was sent. Without the order's number, or where the earlier deals could not be read,
   * nothing shows which deals are its own.
   * @returns undefined where it is not known that the close was made, or that it closed what was
   * sent
   */
  const findClose = async (
    close: CloseToSend,
    sent: AcceptedClose,
  ): Promise<CloseEvidence | undefined> => {
    const { request, target, before, earlierDeals } = close
    const { brokerAccount } = target
    let { shown } = sent
    let reading: PositionsReading | undefined
    let wasReversed = false
    let deals: readonly BrokerDeal[] = []
    let hasAllDeals = false
    const fillOf = (lots: number): CloseFill | undefined =>
      closeFillOf(deals, lots, brokerAccount.platform)

    // Both return whether there is nothing more to wait for.
    const pollPositions = async (): Promise<boolean> => {
      const read = await positionTrading.freshPositions(brokerAccount)()
      if (E.isLeft(read)) return !isTransient(read.left)
      reading = read.right
      shown = shownClose(close, read.right) ?? shown
      wasReversed = isReversed(before.position, sent.brokerOrderId, read.right.positions)
      return shown !== undefined && isDoneAsSent(shown.outcome, request)
    }
    const pollDeals = async (): Promise<boolean> => {
      if (sent.brokerOrderId === null || earlierDeals === undefined) return true
      const synchronised = await ports.synchroniseJournal(brokerAccount, clock.now())()
      if (E.isLeft(synchronised)) return !isTransient(synchronised.left)
      // By the broker's clock, which may be far from ours; a day back, so that none is missed.
      const from = (synchronised.right.latestDealAt ?? 0) - dayMs
      // Once the closed trade is stored, a read after that shows all deals of the close.
      const isTraded = await hasTrade(target)
      const found = await journal.closingDeals(brokerAccount, sent.brokerOrderId, from)()
      if (E.isRight(found)) {
        deals = found.right.filter((deal) => !earlierDeals.has(dealKey(deal)))
        hasAllDeals = isTraded && deals.length > 0
      }
      return hasAllDeals || fillOf(request.expected.closedVolume) !== undefined
    }
    // In parallel: a first read of a long history must not delay the positions.
    await Promise.all([
      shown === undefined ? readUntilInTime(ports, pollPositions) : undefined,
      readUntilInTime(ports, pollDeals),
    ])
    // A list without the rest may be incomplete: the trade shows that another closed it. On MT4 the
    // rest has another number, so that the trade may be of the closed part alone.
    if (
      !shown &&
      reading &&
      brokerAccount.platform === 'mt5' &&
      (await readWithin(ports, maxJournalWaitMs, readTrade(target)))
    )
      shown = { outcome: { ...request.expected, remainingVolume: 0 }, reading }
    const fill =
      fillOf((shown?.outcome ?? request.expected).closedVolume) ??
      // Fewer lots than were sent, whatever their number: somebody else had closed the rest.
      (hasAllDeals && !wasReversed ? fillOf(0) : undefined)
    // This close and another order reversed the position: less was closed than was sent, or it is
    // unknown how much.
    if (deals.some(({ entry }) => entry === 'inout') || (wasReversed && !fill)) return undefined
    const evidence = { shown, fill }
    return sent.isConfirmed || (await isProved(close, evidence)) ? evidence : undefined
  }

  /**
   * Whether the positions show a close that the broker did not confirm, just as it was sent or with
   * its deals. A provider that has just connected shows no positions at all: then only the closed
   * trade in the journal proves it.
   */
  const isProved = async (
    { target, request }: CloseToSend,
    { shown, fill }: CloseEvidence,
  ): Promise<boolean> => {
    if (!shown) return false
    if (fill !== undefined) return true
    // A smaller position alone may be due to a close by somebody else.
    if (!isDoneAsSent(shown.outcome, request)) return false
    if (shown.reading.positions.length > 0) return true
    let isClosed = false
    await readUntilInTime(ports, async () => {
      const read = await readTrade(target)()
      return E.isLeft(read) ? !isTransient(read.left) : (isClosed = read.right)
    })
    return isClosed
  }

  const readTrade = (target: ChangeTarget) =>
    pipe(
      ports.synchroniseJournal(target.brokerAccount, clock.now()),
      TE.flatMapTask(() => () => hasTrade(target)),
    )

  /**
   * Whether the journal has all of the position's closing deals. Where one has no volume, others may
   * be missing.
   */
  const hasTrade = async ({ brokerAccount, id }: ChangeTarget) => {
    const found = await ports.trades.find(brokerAccount.owner, id)()
    return E.isRight(found) && O.isSome(found.right) && !found.right.value.trade.volumeEstimated
  }

  return { findEarlierDeals, findClose }
}

/**
 * What a read shows of a close; undefined where it does not show it yet. On MT4 the remainder of a
 * position gets a new ticket.
 */
export const shownClose = (
  { target, before, request }: CloseToSend,
  reading: PositionsReading,
): ShownClose | undefined => {
  const positionsBefore = { position: before.position, positions: before.reading.positions }
  const restGetsNewTicket = target.brokerAccount.platform === 'mt4'
  const outcome = closeShownBy(positionsBefore, request, reading.positions, restGetsNewTicket)
  return outcome && { outcome, reading }
}
