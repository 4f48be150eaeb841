// The operator API: one route, for one bearer token, on a listener of its own.
import type Koa from 'koa'
import { createOperatorDoor } from './access/doors.ts'
import type { Edge } from './edge.ts'
import { operatorDocument } from './operator/document-codec.ts'
import { mount } from './routing/mount.ts'
import { openRoute } from './routing/route.ts'
import type { Route } from './routing/route.ts'
import type { OperatorUseCases } from './use-cases.ts'

export interface OperatorEdge extends Edge {
  /** A secret, compared in constant time. */
  readonly operatorToken: string
}

const operatorRoutes: readonly Route<OperatorUseCases>[] = [
  openRoute({
    method: 'POST',
    path: '/apply',
    summary: 'Brings the records to what a document says, all or nothing.',
    access: { kind: 'operator' },
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
]

/** Answers POST /operator/v1/apply, and anything else with 404. */
export const createOperatorApi = (useCases: OperatorUseCases, edge: OperatorEdge): Koa =>
  mount({ prefix: '/operator/v1', routes: operatorRoutes, useCases, door: createOperatorDoor(edge.operatorToken), edge })
