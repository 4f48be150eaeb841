// The operator API: for one bearer token, on a listener of its own.
import type Koa from 'koa'
import { createOperatorDoor } from './access/doors.ts'
import type { Edge } from './edge.ts'
import { doctorRoutes } from './operator/doctor-routes.ts'
import { operatorDocument } from './operator/document-codec.ts'
import { presentPlan } from './operator/presenters.ts'
import { orderRoutes } from './operator/order-routes.ts'
import { operatorRoute } from './operator/operator-route.ts'
import { recordRoutes } from './operator/record-routes.ts'
import { secretRoutes } from './operator/secret-routes.ts'
import { mount } from './routing/mount.ts'
import type { Route } from './routing/route.ts'
import type { OperatorUseCases } from './use-cases.ts'

export interface OperatorEdge extends Edge {
  /** A secret, compared in constant time. */
  readonly operatorToken: string
}

export const operatorRoutes: readonly Route<OperatorUseCases>[] = [
  operatorRoute({
    method: 'POST',
    path: '/apply',
    summary: 'Brings the records to what a document says, all or nothing.',
    body: operatorDocument,
    useCase: (useCases: OperatorUseCases, { body }) => useCases.applyOperatorDocument(body),
    present: ({ apiKeys, accessTokens }) => ({
      kind: 'data',
      data: {
        apiKeys: apiKeys.map(({ id, secret }) => ({ id, key: secret })),
        accessTokens: accessTokens.map(({ id, secret }) => ({ id, token: secret })),
      },
    }),
  }),
  // A route of its own: a service that does not know it answers 404, where one that passed over a flag would apply the document.
  operatorRoute({
    method: 'POST',
    path: '/plan',
    summary: 'What applying a document would change now, and which orders under way it touches. Changes nothing.',
    body: operatorDocument,
    useCase: (useCases: OperatorUseCases, { body }) => useCases.planOperatorDocument(body),
    present: (plan) => ({ kind: 'data', data: presentPlan(plan) }),
  }),
  ...recordRoutes,
  ...orderRoutes,
  ...secretRoutes,
  ...doctorRoutes,
]

/** Answers /operator/v1 and the plain routes, and anything else with 404. */
export const createOperatorApi = (useCases: OperatorUseCases, edge: OperatorEdge): Koa =>
  mount({
    prefix: '/operator/v1',
    routes: operatorRoutes,
    plainRoutes: edge.plainRoutes,
    useCases,
    door: createOperatorDoor(edge.operatorToken),
    edge,
  })
