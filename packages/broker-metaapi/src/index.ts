// The package's entry: the ports of the broker and of trading over MetaApi.
export type { MetaApiConfig, MetaApiDeadlines } from './connection.ts'
export type { ProviderRoute } from './failures.ts'
export { createMetaApi, createMetaApiBroker } from './metaapi.ts'
export type { MetaApi } from './metaapi.ts'
export type { ProviderCall } from './transport.ts'
