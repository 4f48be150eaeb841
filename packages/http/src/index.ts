// What the service (apps/api) is composed of: the two APIs, their listener and their pages.
export {
  type ApiDependencies,
  apiPrefix,
  apiRoutes,
  createApi,
  createOpenApiDocument,
} from './api.ts'
export type { AnsweredRequest, ServerDependencies } from './app.ts'
export { isBearerOf } from './credentials.ts'
export type { OpenApiDocument, Operation } from './document.ts'
export { type Address, listen, type Listener, type ListenOptions } from './listen.ts'
export { type Networks, parseNetworks } from './networks.ts'
export {
  createOperatorApi,
  createOperatorDocument,
  operatorRoutes,
} from './operator/operator-api.ts'
export { apiVersion } from './envelope.ts'
export {
  filePages,
  indexPage,
  metricsPage,
  type Pages,
  probePages,
  type Readiness,
} from './pages.ts'
export type { Route } from './route.ts'
export type { OperatorUseCases, UseCases } from './use-cases.ts'
