// What runs in the threads of the calculation pool.
import {
  calculateHere,
  type CalculationInputs,
  type CalculationName,
} from '@tradeport/domain/statistics'

export interface Calculation {
  readonly name: CalculationName
  readonly inputs: CalculationInputs<CalculationName>
}

export default ({ name, inputs }: Calculation): unknown => calculateHere(name, inputs)
