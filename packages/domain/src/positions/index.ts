// Open positions: closing them in whole or in part, and moving stop loss and take profit.
export { byAge } from './position.ts'
export type { BrokerPosition, Position, PositionsReading, Side } from './position.ts'
