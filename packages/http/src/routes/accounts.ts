// GET /accounts, /accounts/:id and /accounts/:id/history (4.1).
import { accountNotFound, historyIntervals } from '@tradeport/domain'
import type { Scope } from '@tradeport/domain'
import { accountShape, presentAccount, presentSnapshot, snapshotShape } from '../presenters/account.ts'
import { accountId, instantAt, oneOf } from '../requests/parameter-kinds.ts'
import { optional } from '../requests/parameter.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import { list } from '../schema/shapes.ts'
import type { UseCases } from '../use-cases.ts'

const anyOf: readonly Scope[] = ['accounts:read']

// What is no account's id is the id of no account.
const id = { ...accountId, refusal: accountNotFound }

export const accountRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    operationId: 'listAccounts',
    method: 'GET',
    path: '/accounts',
    summary: 'List accounts',
    description: 'Linked accounts, oldest first, with balances read live where the broker can be read.',
    anyOf,
    refusals: ['ServiceUnavailable'],
    useCase: (useCases: UseCases, caller) => useCases.listAccounts(caller),
    reply: { kind: 'data', data: list(accountShape, 'Oldest first; empty where none is linked.') },
    present: (views) => ({ kind: 'data', data: views.map(presentAccount) }),
  }),
  scopedRoute({
    operationId: 'getAccount',
    method: 'GET',
    path: '/accounts/:id',
    summary: 'Get an account',
    description: 'One linked account.',
    anyOf,
    params: { id },
    refusals: ['AccountNotFound', 'AccountDisconnected', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.getAccount(caller, params.id),
    reply: { kind: 'data', data: accountShape },
    present: (view) => ({ kind: 'data', data: presentAccount(view) }),
  }),
  scopedRoute({
    operationId: 'listBalanceHistory',
    method: 'GET',
    path: '/accounts/:id/history',
    summary: 'List balance snapshots',
    description: 'Balance snapshots of an account, newest first.',
    anyOf,
    params: { id },
    query: {
      startDate: optional(instantAt('start', 'The earliest snapshot.')),
      endDate: optional(instantAt('end', 'The latest snapshot.')),
      interval: optional(oneOf(historyIntervals, 'Caps the count: 1h at 168, 1d at 365, 1w at 104. Nothing is aggregated.')),
    },
    range: ['startDate', 'endDate'],
    refusals: ['AccountNotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params, query }) =>
      useCases.listBalanceHistory(caller, params.id, { from: query.startDate, to: query.endDate, interval: query.interval }),
    reply: { kind: 'data', data: list(snapshotShape, 'Newest first; empty where there is none.') },
    present: (snapshots) => ({ kind: 'data', data: snapshots.map(presentSnapshot) }),
  }),
]
