// The package's entry: a simulated provider for demos, for tests, and for programs that are tested
// against it.

export { startSandbox, type Sandbox } from './sandbox.ts'
export type { AccountControl, DealFields } from './control.ts'
export type { AccountOptions, GenerateOptions, SandboxOptions } from './options.ts'
export type { TradeReason } from './account.ts'
export type { Fault, FaultRoute, Faults, Lasting } from './faults.ts'
export type { Quote } from './market.ts'
export type { AccountInformation } from './positions.ts'
export type {
  DealRow,
  HistoryFile,
  MarginMode,
  OrderRow,
  Platform,
  PositionRow,
  TradeMode,
  TradeReply,
} from './rows.ts'
