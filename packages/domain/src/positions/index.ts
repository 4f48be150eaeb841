// Open positions: closing them in whole or in part, and moving stop loss and take profit.
export { byAge, type BrokerPosition, type Position, type PositionsReading } from './position.ts'
export type { Levels, Side } from '../primitives/prices.ts'
