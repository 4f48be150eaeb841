// The package's entry: a simulated provider for demos, for tests, and for programs that are tested against it.
export { startSandbox, type Sandbox } from './sandbox.ts'
export type { AccountControl } from './control/account-control.ts'
export type { AccountOptions, GenerateOptions, OpeningPosition, SandboxOptions, TokenOptions } from './options.ts'
export type { AccountInformation, DealRow, HistoryFile, OrderRow, PositionRow, TradeReply } from './rows.ts'
export type { LoggedRequest, RequestFilter, RequestLog } from './request-log.ts'
