// The API's document, computed from the records that the server itself goes by.
import { apiVersion } from '../replies/envelope.ts'
import type { Route } from '../routing/route.ts'
import { headers, parameters, securitySchemes } from './common.ts'
import { errorSchemas } from './error-shapes.ts'
import type { OpenApiDocument, PathItem } from './open-api.ts'
import { documentedOperation, templateOf } from './operation.ts'
import { lonelyReplies, unreadReply } from './refusal-replies.ts'
import { eventSchemas, webhookItems, webhooksTag } from './webhooks.ts'

/** Routes that belong together, with what is to be known of all of them. */
export interface RouteGroup<U> {
  readonly name: string
  readonly description: string
  readonly routes: readonly Route<U>[]
}

export const documentOf = (groups: readonly RouteGroup<never>[], prefix: string): OpenApiDocument => {
  const paths: Record<string, PathItem> = {}
  const schemas = { ...errorSchemas, ...eventSchemas }
  for (const { name, routes } of groups) {
    for (const route of routes) {
      const { operation, named } = documentedOperation(route, name)
      const template = templateOf(route.path)
      paths[template] = { ...paths[template], [route.method.toLowerCase()]: operation }
      Object.assign(schemas, named)
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tradeport',
      version: apiVersion,
      summary: 'Orders, positions and trade history of linked MetaTrader accounts.',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: prefix, description: 'This service.' }],
    tags: [
      ...groups.map(({ name, description }) => ({ name, description })),
      { name: webhooksTag, description: 'What is posted to webhooks. A service delivers events where its operator has switched them on.' },
    ],
    paths,
    webhooks: webhookItems,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      responses: { ...lonelyReplies(paths), Unread: unreadReply },
      parameters,
      headers,
      securitySchemes,
    },
  }
}

const introduction = `Every reply is JSON in one envelope: \`success\`, \`data\`, \`meta\` and \`error\`. \`data\` is null on every error, \`error\` on every success.
New fields may be added to replies within a version: pass over those that you do not know. Unknown fields and parameters of a request are passed over.

**Credentials.** Send an API key in \`X-API-Key\`, or an access token in \`Authorization: Bearer\`; never in the query or the body.
Every operation names the scopes of which one passes.

**Errors.** \`error.code\` is for programs, \`error.message\` is a sentence for a person, \`error.details\` belongs to the code.
Every operation lists the codes that it can answer, by status. A path that does not exist is \`404 NOT_FOUND\`.

**Limits.** \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` tell of the tightest limit. A refused request is
\`429\` with \`Retry-After\`; \`error.details.scope\` says whether the plan (\`tier\`), the endpoint (\`endpoint\`) or a suspension (\`suspension\`) refused it.
Ten refusals within five minutes suspend a credential for 15 minutes.

**Orders are placed once.** \`POST /orders\` answers \`201\` with the order as pending; \`GET /orders/{id}\` tells what the broker made of it.
With an \`Idempotency-Key\` the request can be sent again without placing a second order.
\`504 BROKER_OUTCOME_UNKNOWN\` on a change of a position means that it may have been made: read the position before you try again.

**Times** are UTC with milliseconds. Money is in the account's currency, volumes are lots.`
