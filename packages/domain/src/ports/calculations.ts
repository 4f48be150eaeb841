// Calculations that take long, and so run outside the event loop.
import type { AsyncResult } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'
import type { RobustStatistics } from '../statistics/index.ts'

export interface Calculations {
  /**
   * As `robustStatistics` computes them. A user has a few at a time; ServiceUnavailable where too
   * many wait, or where it takes too long.
   * @param netProfits not used by the caller afterwards
   */
  readonly robustStatistics: (
    owner: Owner,
    netProfits: Float64Array,
    resamples: number,
  ) => AsyncResult<RobustStatistics, 'RateLimitExceeded'>
}
