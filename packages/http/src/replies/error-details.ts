// What `error.details` holds for programs, by the kind of refusal: a shape for the API's document, and what fills it (section 7).
import { exampleAccountId } from '../presenters/examples.ts'
import { choice, decimal, either, list, maybe, object, text, time, whole } from '../schema/shapes.ts'
import type { Shape } from '../schema/shapes.ts'

export interface Details<R> {
  readonly shape: Shape<object>
  readonly of: (refusal: R) => object | undefined
  /** Whether some refusals of the kind have none. */
  readonly isSeldom?: boolean
}

/** Details that are what their shape says. */
export const detailsOf = <R, D extends object>(shape: Shape<D>, of: (refusal: R) => D): Details<R> => ({ shape, of })

/** Details that only some refusals of the kind have. */
export const detailsAtTimesOf = <R, D extends object>(shape: Shape<D>, of: (refusal: R) => D | undefined): Details<R> => ({
  shape,
  of,
  isSeldom: true,
})

const account = text('The account that it is about.', exampleAccountId)

export const ofAccount = object('Which account.', { accountId: account })

export const ofDisconnected = object('Which account, and how it stands.', {
  accountId: account,
  status: text('Its status.', 'disconnected'),
})

export const ofHistory = object('Which account, and how many deals are read.', {
  accountId: account,
  limit: whole('The most deals that are read.', 20_000),
})

export const ofIssues = object('Every fault of the request.', {
  issues: list(
    object('One fault.', {
      path: text('Where it is: a field, a parameter or a header.', 'limit'),
      message: text('What is wrong, what it got and what it takes.', 'limit takes a whole number from 1 to 100, in digits; got "0"'),
    }),
    'In the order in which they were found.',
  ),
})

export const ofScopes = object('What would pass.', {
  required_any_of: list(text('A scope.', 'trading:read'), 'One of these scopes is needed.'),
})

export const ofBrokenLimit = object('Which limit is broken.', {
  limit: text('Its name.', 'maxLotsPerOrder'),
  allowed: either(decimal('The most.', 5), list(text('A symbol.', 'EURUSD'), 'The symbols.')),
  current: either(
    decimal('Of maxLotsPerOrder the lots that were asked for; of the others what is open and under way without the order.', 6),
    text('The symbol that was asked for.', 'XAUUSD'),
  ),
})

export const ofRiskLimit = object('Which limit of the service is reached.', {
  limit: choice(['volume_per_order', 'orders_per_day', 'open_orders'], 'Its name.', 'volume_per_order'),
  allowed: decimal('The most.', 100),
  current: decimal('What there is, or what was asked for.', 100.5),
  resetsAt: maybe(time('When the count of the day begins anew.', '2026-11-21T00:00:00.000Z')),
})

export const ofApproval = object('What needs no approval.', { approvalAboveLots: decimal('The most lots without it.', 2) })

export const ofOrderType = object('What is not available.', { orderType: text('The type that was asked for.', 'limit') })

export const ofOrderStatus = object('How the order stands.', { status: text('Its status.', 'filled') })

export const ofOutcome = object('Where something was being recorded.', {
  outcome: choice<'unknown'>(['unknown'], 'It may have been recorded.', 'unknown'),
})

export const ofPrice = object('What the level is held against.', { currentPrice: decimal('The current price.', 1.08655) })

export const ofVolume = object('What was asked for, and what there is.', {
  volume: decimal('The lots that were asked for.', 0.5),
  openVolume: decimal('The lots that are open.', 0.3),
})

export const ofRejection = object('What the broker said.', {
  brokerCode: text('Its code.', 'TRADE_RETCODE_INVALID_STOPS'),
  brokerMessage: text('Its words.', 'Invalid stops'),
})

export const ofFeature = object('What is not available.', { feature: text('Its name.', 'market-data') })

export const ofRateLimit = object('Which limit is used up.', {
  scope: choice(['tier', 'endpoint', 'suspension'], "The plan's, the endpoint's, or a suspension.", 'tier'),
  window: maybe(choice(['minute', 'day'], "Of the plan's limits, which.", 'minute')),
})

export const ofAllowed = object('How many there may be.', { allowed: whole('The most.', 10) })

export const ofBytes = object('How much is taken.', { limitBytes: whole('The most bytes.', 1_048_576) })
