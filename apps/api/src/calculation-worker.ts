// What runs in the threads of the calculation pool.
import { robustStatistics, type RobustStatistics } from '@tradeport/domain/statistics'

export interface RobustTask {
  readonly netProfits: Float64Array
  readonly resamples: number
}

export default ({ netProfits, resamples }: RobustTask): RobustStatistics =>
  robustStatistics(netProfits, resamples)
