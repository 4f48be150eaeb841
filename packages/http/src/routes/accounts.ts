// GET /accounts, /accounts/:id and /accounts/:id/history (4.1).
import { accountNotFound, historyIntervals } from '@tradeport/domain'
import type { Scope } from '@tradeport/domain'
import { presentAccount, presentSnapshot } from '../presenters/account.ts'
import { accountId, instantAt, oneOf } from '../requests/parameter-kinds.ts'
import { optional } from '../requests/parameter.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import type { UseCases } from '../use-cases.ts'

const anyOf: readonly Scope[] = ['accounts:read']

// What is no account's id is the id of no account.
const id = { ...accountId, refusal: accountNotFound }

export const accountRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    method: 'GET',
    path: '/accounts',
    summary: 'Linked accounts, oldest first, with balances read live where the broker can be read.',
    anyOf,
    useCase: (useCases: UseCases, caller) => useCases.listAccounts(caller),
    present: (views) => ({ kind: 'data', data: views.map(presentAccount) }),
  }),
  scopedRoute({
    method: 'GET',
    path: '/accounts/:id',
    summary: 'One linked account.',
    anyOf,
    params: { id },
    useCase: (useCases: UseCases, caller, { params }) => useCases.getAccount(caller, params.id),
    present: (view) => ({ kind: 'data', data: presentAccount(view) }),
  }),
  scopedRoute({
    method: 'GET',
    path: '/accounts/:id/history',
    summary: 'Balance snapshots of an account, newest first.',
    anyOf,
    params: { id },
    query: {
      startDate: optional(instantAt('start', 'The earliest snapshot.')),
      endDate: optional(instantAt('end', 'The latest snapshot.')),
      interval: optional(oneOf(historyIntervals, 'Caps the count at 168 (1h), 365 (1d) or 104 (1w); nothing is aggregated.')),
    },
    range: ['startDate', 'endDate'],
    useCase: (useCases: UseCases, caller, { params, query }) =>
      useCases.listBalanceHistory(caller, params.id, { from: query.startDate, to: query.endDate, interval: query.interval }),
    present: (snapshots) => ({ kind: 'data', data: snapshots.map(presentSnapshot) }),
  }),
]
