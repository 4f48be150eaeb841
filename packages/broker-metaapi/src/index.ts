// Reads and trades of MetaTrader accounts through MetaApi.
export type { PauseLimits } from './account-pauses.ts'
export type { MetaApiConfig } from './connection.ts'
export type { MetaApiDeadlines } from './deadline.ts'
export { createMetaApi } from './metaapi.ts'
export { createProviderProbe } from './probe.ts'
