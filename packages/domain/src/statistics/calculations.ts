// What may take long enough to hold up other requests, by name, so that a thread can be asked for
// it.
import { groupsOf, groupStatistics } from './breakdown.ts'
import { tradeCurve } from './curve.ts'
import { extendedStatistics } from './extended-statistics.ts'
import { robustStatistics } from './robust-statistics.ts'
import { statisticsOf } from './trade-statistics.ts'

const calculations = {
  extendedStatistics,
  groupsOf,
  groupStatistics,
  robustStatistics,
  statisticsOf,
  tradeCurve,
}

export type CalculationName = keyof typeof calculations
export type CalculationInputs<Name extends CalculationName> = Parameters<
  (typeof calculations)[Name]
>
export type CalculationResult<Name extends CalculationName> = ReturnType<
  (typeof calculations)[Name]
>

export const calculateHere = <Name extends CalculationName>(
  name: Name,
  inputs: CalculationInputs<Name>,
): CalculationResult<Name> => {
  const calculation = calculations[name] as (...values: readonly unknown[]) => unknown
  return calculation(...inputs) as CalculationResult<Name>
}
