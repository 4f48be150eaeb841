// The package's entry: the broker port over MetaApi.
export { createMetaApiBroker } from './broker.ts'
export type { MetaApiBrokerConfig, MetaApiDeadlines } from './broker.ts'
export type { ProviderRoute } from './failures.ts'
export type { ProviderCall } from './transport.ts'
