// GET /operator/v1/tenants and what is below it: a tenant's records, by cursor.
import { notFound, parseTenantId, parseUserId } from '@tradeport/domain'
import type { Listed, TenantId, UserId } from '@tradeport/domain'
import { keysetMeta } from '../replies/pagination.ts'
import type { DataReply } from '../replies/reply.ts'
import { anyText, wholeNumber } from '../requests/parameter-kinds.ts'
import { optional, parsedText, withDefault } from '../requests/parameter.ts'
import type { ParameterKind, PathParameter } from '../requests/parameter.ts'
import type { Route } from '../routing/route.ts'
import type { OperatorUseCases } from '../use-cases.ts'
import { operatorRoute } from './operator-route.ts'
import {
  presentAccessToken,
  presentApiKey,
  presentDesk,
  presentListedAccount,
  presentTenant,
  presentTenantView,
  presentUser,
} from './presenters.ts'

export const tenantId: PathParameter<TenantId> = {
  codec: parsedText('TenantId', parseTenantId),
  takes: 'the id of a tenant',
  description: 'The id of a tenant.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
  refusal: notFound('tenant'),
}

const userId: ParameterKind<UserId> = {
  codec: parsedText('UserId', parseUserId),
  takes: 'the id of a user',
  description: 'What this user of the tenant owns, alone.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}

export const piece = {
  cursor: optional(anyText('meta.pagination.cursor of the piece before.')),
  limit: withDefault(wholeNumber(1, 1_000, 'How many to answer at most.'), 100),
}
const ofUser = { ...piece, userId: optional(userId) }

export const presentList =
  <A>(present: (item: A) => object) =>
  ({ items, cursor }: Listed<A>, { query: { limit } }: { readonly query: { readonly limit: number } }): DataReply => ({
    kind: 'data',
    data: items.map(present),
    pagination: keysetMeta(limit, cursor),
  })

export const recordRoutes: readonly Route<OperatorUseCases>[] = [
  operatorRoute({
    method: 'GET',
    path: '/tenants',
    summary: 'Tenants, by id.',
    query: piece,
    useCase: (useCases: OperatorUseCases, { query }) => useCases.listTenants(query),
    present: presentList(presentTenant),
  }),
  operatorRoute({
    method: 'GET',
    path: '/tenants/:tenantId',
    summary: 'One tenant, and how many records it has.',
    params: { tenantId },
    useCase: (useCases: OperatorUseCases, { params }) => useCases.getTenant(params.tenantId),
    present: (view) => ({ kind: 'data', data: presentTenantView(view) }),
  }),
  operatorRoute({
    method: 'GET',
    path: '/tenants/:tenantId/users',
    summary: "The tenant's users, by id.",
    params: { tenantId },
    query: piece,
    useCase: (useCases: OperatorUseCases, { params, query }) => useCases.listTenantUsers(params.tenantId, query),
    present: presentList(presentUser),
  }),
  operatorRoute({
    method: 'GET',
    path: '/tenants/:tenantId/accounts',
    summary: "Accounts of the tenant's users as they are stored, by user, with their limits and challenges.",
    params: { tenantId },
    query: ofUser,
    useCase: (useCases: OperatorUseCases, { params, query }) => useCases.listTenantAccounts(params.tenantId, query.userId, query),
    present: presentList(presentListedAccount),
  }),
  operatorRoute({
    method: 'GET',
    path: '/tenants/:tenantId/api-keys',
    summary: "API keys of the tenant's users, by user; a key itself is told when it is made, and never again.",
    params: { tenantId },
    query: ofUser,
    useCase: (useCases: OperatorUseCases, { params, query }) => useCases.listTenantApiKeys(params.tenantId, query.userId, query),
    present: presentList(presentApiKey),
  }),
  operatorRoute({
    method: 'GET',
    path: '/tenants/:tenantId/access-tokens',
    summary: "Stored access tokens of the tenant's users, by user, without their texts.",
    params: { tenantId },
    query: ofUser,
    useCase: (useCases: OperatorUseCases, { params, query }) => useCases.listTenantAccessTokens(params.tenantId, query.userId, query),
    present: presentList(presentAccessToken),
  }),
  operatorRoute({
    method: 'GET',
    path: '/tenants/:tenantId/desks',
    summary: "The tenant's desks, by id.",
    params: { tenantId },
    query: piece,
    useCase: (useCases: OperatorUseCases, { params, query }) => useCases.listTenantDesks(params.tenantId, query),
    present: presentList(presentDesk),
  }),
]
