// Open positions: closing them in whole or in part, and moving stop loss and take profit.
export {
  byAge,
  type BrokerPosition,
  type Position,
  type PositionsReading,
  type Side,
} from './position.ts'
export type { Levels } from './levels.ts'
