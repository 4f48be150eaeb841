// What replies and deliveries of an API are held against its OpenAPI document with.
export { createContractWatch } from './contract-watch.ts'
export type { ContractWatch, HeardDelivery, HeardReply, WatchedDocument } from './contract-watch.ts'
