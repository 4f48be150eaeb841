// GET /trades, /trades/stats, /trades/export and /trades/:id (4.5).
import { profitFilters } from '@tradeport/domain'
import type { AccountId, Instant, ProfitFilter, Scope, SymbolFilter, TradeFilter } from '@tradeport/domain'
import { examplePositionId } from '../presenters/examples.ts'
import { presentTradeProvenance, tradeProvenanceShape } from '../presenters/provenance.ts'
import { presentStatistics, presentWarning, statisticsShape, warningShape } from '../presenters/statistics.ts'
import { exportFormats, presentExport, tradeFileShape } from '../presenters/trade-file.ts'
import { presentTrade, tradeShape } from '../presenters/trade.ts'
import { cursorMeta, cursorPaginationShape } from '../replies/pagination.ts'
import { writtenOnce } from '../replies/written-json.ts'
import { accountId, anyText, instantAt, oneOf, pageSize, symbol } from '../requests/parameter-kinds.ts'
import { optional, withDefault } from '../requests/parameter.ts'
import { brokerReadRefusals } from '../routing/route-refusals.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import { list } from '../schema/shapes.ts'
import type { UseCases } from '../use-cases.ts'

interface FilterQuery {
  readonly accountId: AccountId | undefined
  readonly symbol: SymbolFilter | undefined
  readonly startDate: Instant | undefined
  readonly endDate: Instant | undefined
  readonly profitFilter?: ProfitFilter
}

const anyOf: readonly Scope[] = ['trading:read', 'history:read']
const range = ['startDate', 'endDate'] as const
const readRefusals = [...brokerReadRefusals, 'AccountNotFound', 'HistoryTooLarge', 'ServiceUnavailable'] as const

const which = {
  accountId: optional(accountId),
  symbol: optional(symbol),
  startDate: optional(instantAt('start', 'The earliest close, included.')),
  endDate: optional(instantAt('end', 'The latest close, included.')),
}
const profitFilter = withDefault<ProfitFilter>(
  oneOf(profitFilters, 'Trades with a net profit above 0 (profit), of 0 or below (loss), or all.'),
  'all',
)

const filterOf = (query: FilterQuery): TradeFilter => ({
  accountId: query.accountId,
  symbol: query.symbol,
  from: query.startDate,
  to: query.endDate,
  profit: query.profitFilter ?? 'all',
})

const writeTrades = writtenOnce(presentTrade)

export const tradeRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    operationId: 'listTrades',
    method: 'GET',
    path: '/trades',
    summary: 'List closed trades',
    description: 'Closed trades, most recently closed first.',
    anyOf,
    query: {
      ...which,
      profitFilter,
      limit: withDefault(pageSize(100), 20),
      cursor: optional(
        anyText('meta.pagination.cursor of the previous page, with the same filters.', cursorPaginationShape.example.cursor ?? ''),
      ),
    },
    range,
    refusals: [...readRefusals, 'InvalidCursor'],
    useCase: (useCases: UseCases, caller, { query }) =>
      useCases.listTrades(caller, { filter: filterOf(query), limit: query.limit, cursor: query.cursor }),
    reply: {
      kind: 'data',
      data: list(tradeShape, 'Most recently closed first.'),
      provenance: tradeProvenanceShape,
      pagination: cursorPaginationShape,
    },
    present: ({ trades, total, before, cursor, provenance }, { query }) => ({
      kind: 'data',
      data: writeTrades(trades),
      provenance: presentTradeProvenance(provenance),
      pagination: cursorMeta(total, before, query.limit, cursor),
    }),
  }),
  scopedRoute({
    operationId: 'getTradeStatistics',
    method: 'GET',
    path: '/trades/stats',
    summary: 'Get trade statistics',
    description: 'Statistics of closed trades.',
    anyOf,
    query: which,
    range,
    refusals: readRefusals,
    useCase: (useCases: UseCases, caller, { query }) => useCases.getTradeStatistics(caller, filterOf(query)),
    reply: {
      kind: 'data',
      data: statisticsShape,
      provenance: tradeProvenanceShape,
      warnings: list(warningShape, 'Left out where there is none.'),
    },
    present: (result) => ({
      kind: 'data',
      data: presentStatistics(result),
      provenance: presentTradeProvenance(result.provenance),
      warnings: result.warnings.map(presentWarning),
    }),
  }),
  scopedRoute({
    operationId: 'exportTrades',
    method: 'GET',
    path: '/trades/export',
    summary: 'Export closed trades',
    description: 'Closed trades as a file, most recently closed first.',
    limit: { requests: 10, periodSeconds: 3_600 },
    anyOf,
    query: { ...which, profitFilter, format: withDefault(oneOf(exportFormats, 'The format of the file.'), 'csv') },
    range,
    refusals: readRefusals,
    useCase: (useCases: UseCases, caller, { query }) => useCases.exportTrades(caller, filterOf(query)),
    reply: tradeFileShape,
    present: (exported, { query }) => presentExport(exported, query.format),
  }),
  scopedRoute({
    operationId: 'getTrade',
    method: 'GET',
    path: '/trades/:id',
    summary: 'Get a closed trade',
    description: 'One closed trade.',
    anyOf,
    params: { id: anyText('The id of a trade, as a list gives it.', examplePositionId) },
    refusals: [...brokerReadRefusals, 'TradeNotFound', 'HistoryTooLarge', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.getTrade(caller, params.id),
    reply: { kind: 'data', data: tradeShape, provenance: tradeProvenanceShape },
    present: ({ closed, provenance }) => ({
      kind: 'data',
      data: presentTrade(closed),
      provenance: presentTradeProvenance(provenance),
    }),
  }),
]
