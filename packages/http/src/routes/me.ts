// What the credential of a request is, may do, and has left of its limits.
import { plans, scopes } from '@tradeport/domain/access'
import type { CallerDescription } from '@tradeport/domain/use-cases'
import { ownerId } from '../fields.ts'
import { anyCredential } from '../route.ts'
import {
  encodedFrom,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  time,
  whole,
  withDescription,
} from '../schema.ts'
import { route } from '../use-cases.ts'

const limit = object('A limit of the credential.', {
  scope: oneOf(['tier', 'endpoint'], 'Whether it is of the plan or of the endpoint.'),
  window: optional(oneOf(['minute', 'day'], 'Which limit of the plan it is.')),
  limit: whole('The most requests that it holds.', 3_000),
  remaining: whole('Requests that are left, after this one.', 2_999),
  resetAt: time('When all of them are available again.'),
})

const description = encodedFrom(
  record('Caller', 'Who the caller is to the service.', {
    userId: withDescription(ownerId, 'The user of the credential.'),
    tenantId: text('Their tenant.', 'acme'),
    plan: oneOf(plans, 'The plan of the user, which sets the limits.', 'pro'),
    scopes: list(oneOf(scopes, 'What it may do.', 'trading:read'), 'What the credential may do.'),
    credential: object('The credential of the request.', {
      kind: oneOf(['api_key', 'access_token'], 'What it is.'),
      id: text('Its id; not the secret.', 'key-1'),
      expiresAt: nullable(time('When it expires; null: never.')),
    }),
    limits: list(limit, "The plan's limits of the minute and the day."),
    capabilities: list(
      text('The name of a capability.', 'trading-tools'),
      'What this service can do beyond the API specification.',
    ),
  }),
  ({ owner, credential, limits, ...rest }: CallerDescription) => ({
    ...rest,
    ...owner,
    plan: credential.plan,
    credential,
    limits: limits.map(({ exceeded, fullAt, ...standing }) => ({
      ...standing,
      ...exceeded,
      resetAt: fullAt,
    })),
  }),
)

export const meRoutes = [
  route(
    'GET /me',
    'getMe',
    'The credential of the request: whose it is, what it may do, and what is left of its limits.',
    {
      // The console decides by it what to show.
      capability: ['trading-tools', 'console'],
      access: anyCredential,
      refusals: [],
      data: description,
    },
  ),
]
