// Calculations outside the event loop, for those that take long.
import type { AsyncResult } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'
import type { CalculationInputs, CalculationName, CalculationResult } from '../statistics/index.ts'

/**
 * What `calculateHere` computes, elsewhere. A user has two at a time; ServiceUnavailable where too
 * many of all users wait, or where it takes too long.
 */
export type Calculate = <Name extends CalculationName>(
  owner: Owner,
  name: Name,
  ...inputs: CalculationInputs<Name>
) => AsyncResult<CalculationResult<Name>, 'RateLimitExceeded'>
