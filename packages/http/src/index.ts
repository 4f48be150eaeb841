// The package's entry: the two apps, their listener, and what they ask of whoever composes them.
export { apiPrefix, apiRoutes, createApi } from './api.ts'
export type { ApiEdge, Edge, Log } from './edge.ts'
export { listen } from './listening/listen.ts'
export type { Address, ListenOptions } from './listening/listen.ts'
export { createOperatorApi } from './operator-api.ts'
export type { OperatorEdge } from './operator-api.ts'
export type { Route } from './routing/route.ts'
export type { OperatorUseCases, UseCases } from './use-cases.ts'
