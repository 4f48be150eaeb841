// The two APIs, their listener, and what they need from whoever composes the service.
export { apiPrefix, apiRoutes, createApi, createOpenApiDocument } from './api.ts'
export type { ApiEdge } from './api.ts'
export type { AnsweredRequest, Edge, Log, ObserveRequest, Pages, RequestMeter } from './app.ts'
export type { OpenApiDocument, Operation } from './document.ts'
export { listen } from './listen.ts'
export type { Address, Listener, ListenOptions } from './listen.ts'
export { parseNetworks } from './networks.ts'
export type { Network } from './networks.ts'
export {
  createOperatorApi,
  createOperatorDocument,
  operatorRoutes,
} from './operator/operator-api.ts'
export type { OperatorEdge } from './operator/operator-api.ts'
export { apiVersion } from './envelope.ts'
export { filePages, indexPage, metricsPage, probePages } from './pages.ts'
export type { FilePage, Readiness } from './pages.ts'
export type { Route } from './route.ts'
export type { OperatorUseCases, UseCases } from './use-cases.ts'
