// GET /openapi.json: the API in OpenAPI 3.1, for programs that read it.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { assetReply } from '../replies/asset.ts'
import type { Asset } from '../replies/asset.ts'
import { anyText } from '../requests/parameter-kinds.ts'
import { optional } from '../requests/parameter.ts'
import { openRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import type { UseCases } from '../use-cases.ts'

/** @param read gives the document, which is made of all routes, this one among them */
export const openApiRoute = (read: () => Asset): Route<UseCases> =>
  openRoute({
    operationId: 'getOpenApiDocument',
    method: 'GET',
    path: '/openapi.json',
    summary: 'Get this document',
    description: 'The API in OpenAPI 3.1.0, as it stands, without the envelope.',
    access: { kind: 'public' },
    headers: { 'If-None-Match': optional(anyText('The ETag of a document that is held.', '"…"')) },
    refusals: [],
    useCase: () => TE.right(undefined),
    reply: { kind: 'asset', contentType: 'application/json', description: 'This document.', schema: { type: 'object' } },
    present: (_, { headers }) => assetReply(read(), headers['If-None-Match']),
  })
