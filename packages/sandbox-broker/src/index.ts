// The package's entry: a simulated provider for demos, for tests, and for programs that are tested
// against it.

export { startSandbox, type Sandbox } from './sandbox.ts'
export type { AccountControl, DealFields } from './control.ts'
export type { AccountOptions, GenerateOptions, OpeningPosition, SandboxOptions } from './options.ts'
export type { TradeReason } from './account.ts'
export type { Fault, FaultKind, FaultRoute } from './faults.ts'
export type { Faults } from './faults.ts'
export type { Quote } from './market.ts'
export type { LoggedRequest, RequestFilter, RequestLog } from './request-log.ts'
export type { RouteName } from './faults.ts'
export type {
  AccountInformation,
  DealRow,
  HistoryFile,
  OrderRow,
  PositionRow,
  TradeReply,
} from './rows.ts'
