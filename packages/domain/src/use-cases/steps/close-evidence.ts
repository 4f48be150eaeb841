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

interface EvidencePorts extends Pick<Ports, 'journal' | 'positionTrading' | 'clock' | 'pause'> {
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
export interface CloseInPositions {
  readonly outcome: CloseOutcome
  readonly reading: PositionsReading
}

/** What is known of a close that was made. */
interface CloseEvidence {
  readonly shown: CloseInPositions | undefined
  readonly fill: CloseFill | undefined
}

/** A close that the broker accepted, or that a read shows to be done. */
export interface AcceptedClose {
  /** The broker's number of the closing order; null where its answer did not have one. */
  readonly brokerOrderId: string | null
  /** Whether the broker reported all of it done; otherwise only a read shows how much was. */
  readonly isConfirmed: boolean
  /** Undefined where no read has shown it. */
  readonly shown: CloseInPositions | undefined
}

/** How long a close on MT4 may be delayed by reading the deals of earlier closes. */
const maxEarlierReadWaitMs = secondMs / 2

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
    const deals = await readWithin(ports, maxEarlierReadWaitMs, reading)
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
    let isOnOtherSide = false
    let deals: readonly BrokerDeal[] = []
    let wasClosed = false
    let hasAllDeals = false
    const fillOf = (lots: number): CloseFill | undefined =>
      closeFillOf(deals, lots, brokerAccount.platform)

    // Both return whether there is nothing more to wait for.
    const pollPositions = async (): Promise<boolean> => {
      const read = await positionTrading.freshPositions(brokerAccount)()
      if (E.isLeft(read)) return !isTransient(read.left)
      shown = shownClose(close, read.right) ?? shown
      isOnOtherSide = isReversed(before.position, sent.brokerOrderId, read.right.positions)
      return shown !== undefined && isDoneAsSent(shown.outcome, request)
    }
    const pollDeals = async (): Promise<boolean> => {
      if (sent.brokerOrderId === null || earlierDeals === undefined) return true
      const synchronised = await ports.synchroniseJournal(brokerAccount, clock.now())()
      if (E.isLeft(synchronised)) return !isTransient(synchronised.left)
      // By the broker's clock, which may be far from ours.
      const from = (synchronised.right.latestDealAt ?? 0) - dayMs
      const found = await journal.closingDeals(brokerAccount, sent.brokerOrderId, from)()
      if (E.isRight(found)) {
        deals = found.right.filter((deal) => !earlierDeals.has(dealKey(deal)))
        hasAllDeals = wasClosed && deals.length > 0
      }
      if (hasAllDeals || fillOf(request.expected.closedVolume) !== undefined) return true
      // Once the position has its trade, the next read shows all deals of the close.
      wasClosed = deals.length > 0 && (await hasTrade(target))
      return false
    }
    // In parallel: a first read of a long history must not delay the positions.
    await Promise.all([
      shown === undefined ? readUntilInTime(ports, pollPositions) : undefined,
      readUntilInTime(ports, pollDeals),
    ])
    const fill =
      fillOf((shown?.outcome ?? request.expected).closedVolume) ??
      // They are fewer lots than were sent: another had closed the rest.
      (hasAllDeals && !isOnOtherSide ? fillOf(0) : undefined)
    // Together with another order it reversed the position: less was closed than was sent, or it is
    // unknown how much.
    if (deals.some(({ entry }) => entry === 'inout') || (isOnOtherSide && !fill)) return undefined
    const evidence = { shown, fill }
    return sent.isConfirmed || (await isProved(close, evidence)) ? evidence : undefined
  }

  /**
   * Whether its deals or the positions show a close that the broker did not confirm. A provider that
   * has just connected shows no positions at all: then the closed trade must be in the journal.
   */
  const isProved = async (
    { target, request }: CloseToSend,
    { shown, fill }: CloseEvidence,
  ): Promise<boolean> => {
    // A smaller position alone may be due to a close by somebody else.
    if (!shown || (fill === undefined && !isDoneAsSent(shown.outcome, request))) return false
    if (shown.reading.positions.length > 0 || fill !== undefined) return true
    let isClosed = false
    await readUntilInTime(ports, async () => {
      const synchronised = await ports.synchroniseJournal(target.brokerAccount, clock.now())()
      if (E.isLeft(synchronised)) return !isTransient(synchronised.left)
      return (isClosed = await hasTrade(target))
    })
    return isClosed
  }

  /**
   * Whether the journal has all of the position's closing deals. Where one has no volume, others may
   * be missing.
   */
  const hasTrade = async ({ brokerAccount, id }: ChangeTarget): Promise<boolean> => {
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
): CloseInPositions | undefined => {
  const positionsBefore = { position: before.position, positions: before.reading.positions }
  const restGetsNewTicket = target.brokerAccount.platform === 'mt4'
  const outcome = closeShownBy(positionsBefore, request, reading.positions, restGetsNewTicket)
  return outcome && { outcome, reading }
}
