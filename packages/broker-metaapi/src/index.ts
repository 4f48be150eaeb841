// The package's entry: the ports of the broker, of trading and of the desk that changes positions, over MetaApi.
export type { PauseLimits } from './account-pauses.ts'
export type { MetaApiConfig, MetaApiDeadlines } from './connection.ts'
export type { ProviderRoute } from './failures.ts'
export { createMetaApi, createMetaApiBroker } from './metaapi.ts'
export type { MetaApi } from './metaapi.ts'
export { createProviderProbe } from './probe.ts'
export type { TokenLimits } from './token-gate.ts'
export type { ProviderCall } from './transport.ts'
