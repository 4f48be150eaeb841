// The package's entry: a simulated provider for demos, for tests, and for programs that are tested
// against it.
export { startSandbox, type Sandbox } from './sandbox.ts'
export type { AccountControl, DealFields } from './control/account-control.ts'
export type {
  AccountOptions,
  GenerateOptions,
  OpeningPosition,
  SandboxOptions,
  TokenOptions,
} from './options.ts'
export type { TradeReason } from './books/entries.ts'
export type { Fault, FaultKind, FaultRoute } from './faults/fault.ts'
export type { Faults } from './faults/fault-set.ts'
export type { Quote } from './market/prices.ts'
export type { LoggedRequest, RequestFilter, RequestLog } from './request-log.ts'
export type { RouteName } from './rest/route-names.ts'
export type {
  AccountInformation,
  DealRow,
  HistoryFile,
  OrderRow,
  PositionRow,
  TradeReply,
} from './rows.ts'
