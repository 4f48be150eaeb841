// How long positions were held.
import { exactSumOf } from '../primitives/exact-sum.ts'
import type { Column } from './trade-results.ts'

/** The mean of whole seconds from opening to closing; 0 without trades. */
export const averageHoldingTime = (holdingTimes: Column): number =>
  exactSumOf(holdingTimes).dividedBy(Math.max(1, holdingTimes.length))
