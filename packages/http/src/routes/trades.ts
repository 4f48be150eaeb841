// GET /trades, /trades/stats, /trades/export and /trades/:id (4.5).
import { profitFilters } from '@tradeport/domain'
import type { AccountId, Instant, ProfitFilter, Scope, SymbolFilter, TradeFilter } from '@tradeport/domain'
import { presentTradeProvenance } from '../presenters/provenance.ts'
import { presentStatistics, presentWarning } from '../presenters/statistics.ts'
import { exportFormats, presentExport } from '../presenters/trade-file.ts'
import { presentTrade } from '../presenters/trade.ts'
import { cursorMeta } from '../replies/pagination.ts'
import { writtenOnce } from '../replies/written-json.ts'
import { accountId, anyText, instantAt, oneOf, pageSize, symbol } from '../requests/parameter-kinds.ts'
import { optional, withDefault } from '../requests/parameter.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
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
    method: 'GET',
    path: '/trades',
    summary: 'Closed trades, most recently closed first.',
    anyOf,
    query: {
      ...which,
      profitFilter,
      limit: withDefault(pageSize(100), 20),
      cursor: optional(anyText('meta.pagination.cursor of the previous page, with the same filters.')),
    },
    range,
    useCase: (useCases: UseCases, caller, { query }) =>
      useCases.listTrades(caller, { filter: filterOf(query), limit: query.limit, cursor: query.cursor }),
    present: ({ trades, total, before, cursor, provenance }, { query }) => ({
      kind: 'data',
      data: writeTrades(trades),
      provenance: presentTradeProvenance(provenance),
      pagination: cursorMeta(total, before, query.limit, cursor),
    }),
  }),
  scopedRoute({
    method: 'GET',
    path: '/trades/stats',
    summary: 'Statistics of closed trades.',
    anyOf,
    query: which,
    range,
    useCase: (useCases: UseCases, caller, { query }) => useCases.getTradeStatistics(caller, filterOf(query)),
    present: (result) => ({
      kind: 'data',
      data: presentStatistics(result),
      provenance: presentTradeProvenance(result.provenance),
      warnings: result.warnings.map(presentWarning),
    }),
  }),
  scopedRoute({
    method: 'GET',
    path: '/trades/export',
    summary: 'Closed trades as a file, most recently closed first.',
    limit: { requests: 10, periodSeconds: 3_600 },
    anyOf,
    query: { ...which, profitFilter, format: withDefault(oneOf(exportFormats, 'The format of the file.'), 'csv') },
    range,
    useCase: (useCases: UseCases, caller, { query }) => useCases.exportTrades(caller, filterOf(query)),
    present: (exported, { query }) => presentExport(exported, query.format),
  }),
  scopedRoute({
    method: 'GET',
    path: '/trades/:id',
    summary: 'One closed trade.',
    anyOf,
    params: { id: anyText('The id of a trade, as a list gives it.') },
    useCase: (useCases: UseCases, caller, { params }) => useCases.getTrade(caller, params.id),
    present: ({ closed, provenance }) => ({
      kind: 'data',
      data: presentTrade(closed),
      provenance: presentTradeProvenance(provenance),
    }),
  }),
]
