// The export of trades as a file that is written piece by piece, so that a long history holds nobody up (4.5; decision 39).
import { formatPositionId, toIso, toUtcDay } from '@tradeport/domain'
import type { Breather, ClosedTrade, TradeExport } from '@tradeport/domain'
import type { FileReply } from '../replies/reply.ts'
import type { FileReplyShape } from '../replies/reply-shapes.ts'
import { list, record, text } from '../schema/shapes.ts'
import { csvRow } from './csv.ts'
import type { Cell } from './csv.ts'
import { presentTradeProvenance, tradeProvenanceShape } from './provenance.ts'
import { presentTrade, tradeShape } from './trade.ts'

export const exportFormats = ['csv', 'json'] as const
export type ExportFormat = (typeof exportFormats)[number]

// Well below a millisecond of work, and still few when the code has only just been loaded.
const tradesPerPiece = 50

const columns: readonly (readonly [name: string, cell: (closed: ClosedTrade) => Cell])[] = [
  ['id', ({ accountId, trade }) => formatPositionId(accountId, trade.positionId)],
  ['accountId', ({ accountId }) => accountId],
  ['positionId', ({ trade }) => trade.positionId],
  ['symbol', ({ trade }) => trade.symbol],
  ['type', ({ trade }) => trade.side],
  ['volume', ({ trade }) => trade.volume],
  ['entryPrice', ({ trade }) => trade.entryPrice],
  ['exitPrice', ({ trade }) => trade.exitPrice],
  ['profit', ({ trade }) => trade.profit],
  ['commission', ({ trade }) => trade.commission],
  ['swap', ({ trade }) => trade.swap],
  ['netProfit', ({ trade }) => trade.netProfit],
  ['holdingTime', ({ trade }) => trade.holdingTime],
  ['openedAt', ({ trade }) => toIso(trade.openedAt)],
  ['closedAt', ({ trade }) => toIso(trade.closedAt)],
  ['volumeEstimated', ({ trade }) => trade.volumeEstimated === true],
]

// The columns are fields of a trade, by the same names.
const exampleRow: Readonly<Record<string, Cell>> = { ...tradeShape.example, volumeEstimated: false }
const exampleCsv = csvRow(columns.map(([name]) => name)) + csvRow(columns.map(([name]) => exampleRow[name] ?? ''))

/** The two formats of the file, by content type (decision 39). */
export const tradeFileShape: FileReplyShape = {
  kind: 'file',
  contents: {
    'text/csv': text(`A header row, ${columns.map(([name]) => name).join(',')}, and a row for each trade (RFC 4180, UTF-8).`, exampleCsv),
    'application/json': record('TradeExport', 'The trades without the envelope.', {
      trades: list(tradeShape, 'Most recently closed first.'),
      provenance: tradeProvenanceShape,
    }),
  },
  headers: {
    'Content-Disposition': { description: 'attachment, with the name trades_<YYYY-MM-DD> of the UTC day.', schema: { type: 'string' } },
    'X-Skipped-Positions': { description: 'How many positions could not be folded into a trade.', schema: { type: 'integer', minimum: 0 } },
  },
}

export const presentExport = (exported: TradeExport, format: ExportFormat): FileReply => ({
  kind: 'file',
  name: `trades_${toUtcDay(exported.exportedAt)}.${format}`,
  contentType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
  headers: { 'X-Skipped-Positions': String(exported.provenance.skipped.length) },
  pieces: (breather) => (format === 'csv' ? csvPieces(exported, breather) : jsonPieces(exported, breather)),
})

async function* csvPieces({ trades }: TradeExport, { breathe }: Breather): AsyncGenerator<string, void, void> {
  yield csvRow(columns.map(([name]) => name))
  for (let from = 0; from < trades.length; from += tradesPerPiece) {
    await breathe()
    yield trades
      .slice(from, from + tradesPerPiece)
      .map(tradeRow)
      .join('')
  }
}

async function* jsonPieces({ trades, provenance }: TradeExport, { breathe }: Breather): AsyncGenerator<string, void, void> {
  yield '{"trades":['
  for (let from = 0; from < trades.length; from += tradesPerPiece) {
    await breathe()
    const rows = trades.slice(from, from + tradesPerPiece).map((closed) => JSON.stringify(presentTrade(closed)))
    yield `${from === 0 ? '\n' : ',\n'}${rows.join(',\n')}`
  }
  yield `\n],"provenance":${JSON.stringify(presentTradeProvenance(provenance))}}\n`
}

const tradeRow = (closed: ClosedTrade): string => csvRow(columns.map(([, cell]) => cell(closed)))
