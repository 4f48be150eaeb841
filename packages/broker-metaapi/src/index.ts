// The package's entry: the ports of the broker, of trading and of the desk that changes positions,
// over MetaApi.
export type { PauseLimits } from './account-pauses.ts'
export type { MetaApiConfig, MetaApiDeadlines } from './connection.ts'
export { createMetaApi } from './metaapi.ts'
export { createProviderProbe } from './probe.ts'
