// What the other closes of an account mean for one whose deals are looked for (6): which deals are theirs, and who takes first what could be of several.
import type { ClosingDealKey } from '../positions/closing-deals.ts'
import type { Instant } from '../primitives/instant.ts'
import type { CloseProgress, IntendedClose, TellingClose } from './close-telling.ts'

/** A close, as far as others are concerned. */
export interface KnownClose {
  readonly close: Pick<IntendedClose, 'id' | 'sentAt'>
  readonly progress: CloseProgress
}

/** @param others of the same account, that were sent a day before it or later */
export const besideOthers = (
  found: KnownClose,
  others: readonly KnownClose[],
): Pick<TellingClose, 'toldDeals' | 'otherOrders' | 'waitsForOther' | 'nextSentAt'> => {
  const { ticket } = found.close.id
  const ofPosition = others.filter(({ close }) => close.id.ticket === ticket)
  const later = ofPosition.filter((one) => one.close.sentAt > found.close.sentAt && !isWithoutTrace(one))
  return {
    toldDeals: new Map(others.flatMap(toldOf)),
    otherOrders: new Set(others.flatMap(ordersOf).filter((order) => order !== ticket)),
    waitsForOther: ofPosition.some((one) => goesFirst(one, found)),
    nextSentAt: later.length === 0 ? null : Math.min(...later.map(({ close }) => close.sentAt)),
  }
}

const toldOf = ({ close, progress }: KnownClose): readonly [ClosingDealKey, Instant][] =>
  'deals' in progress ? progress.deals.map((deal) => [deal, close.sentAt]) : []

// On MT4 a close has the number of its position.
const ordersOf = ({ close, progress }: KnownClose): readonly string[] =>
  progress.orderId === null ? [close.id.ticket] : [progress.orderId, close.id.ticket]

const isWithoutTrace = ({ progress }: KnownClose): boolean =>
  progress.step === 'ended' && progress.deals.length === 0 && progress.orderId === null

// Of two that look for their deals, the one that is known to be made takes its own first, and then the earlier one.
const goesFirst = (one: KnownClose, other: KnownClose): boolean => {
  const isEarlier = one.close.sentAt < other.close.sentAt
  if (one.progress.step === 'made') return other.progress.step === 'sent' || isEarlier
  return one.progress.step === 'sent' && other.progress.step === 'sent' && isEarlier
}
