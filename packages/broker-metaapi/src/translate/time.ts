// The provider's times: ISO 8601 in UTC. Its times on the broker's clock carry no zone and are never read.
import * as O from 'fp-ts/lib/Option.js'
import { parseInstant } from '@tradeport/domain'
import type { Instant } from '@tradeport/domain'

// The form that the provider writes, of days that every month has: the platform's own parser reads those right, and ten times as fast.
const usualForm = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{3}Z$/

/** NaN where the text is no time. A text without a zone is UTC. */
export const readTime = (text: string): Instant =>
  usualForm.test(text) ? Date.parse(text) : O.getOrElse(() => Number.NaN)(parseInstant(text, 'start'))
