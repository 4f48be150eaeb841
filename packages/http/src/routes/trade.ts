// A closed trade as JSON, and the export of many as a file that is written piece by piece, so that
// a long history holds nobody up.
import { formatPositionId, toUtcDay } from '@tradeport/domain/primitives'
import type { Breather } from '@tradeport/domain/ports'
import type { ClosedTrade } from '@tradeport/domain/trades'
import type { TradeExport } from '@tradeport/domain/use-cases'
import { exitPrice, positionFields, profit, ticket } from '../fields.ts'
import type { FileReply } from '../route.ts'
import { decimal, flag, list, record, seldom, text, time, whole, writtenFrom } from '../schema.ts'
import { csvRow } from './csv.ts'
import type { Cell } from './csv.ts'
import { tradeProvenanceShape } from './provenance.ts'

const shape = record(
  'Trade',
  'A position whose whole volume is closed, folded from all of its deals.',
  {
    ...positionFields,
    positionId: ticket,
    exitPrice,
    profit,
    netProfit: decimal('profit + commission + swap.', 35.48),
    holdingTime: whole('Whole seconds from openedAt to closedAt, rounded down.', 5_400),
    openedAt: time('The first opening deal.', '2026-11-20T12:35:09.000Z'),
    closedAt: time('The last closing deal.'),
    volumeEstimated: seldom(
      flag(
        'True when a closing deal had no volume, and volume is the volume opened; else left out.',
      ),
    ),
  },
)

export const tradeShape = writtenFrom(
  shape,
  ({ accountId: account, userId, trade }: ClosedTrade) => ({
    ...trade,
    id: formatPositionId(account, trade.positionId),
    userId,
    accountId: account,
    type: trade.side,
  }),
)

export const exportFormats = ['csv', 'json'] as const

const columns =
  'id,accountId,positionId,symbol,type,volume,entryPrice,exitPrice,profit,commission,swap,netProfit,holdingTime,openedAt,closedAt,volumeEstimated'.split(
    ',',
  )

const rowOf = (encoded: unknown): string => {
  const cells: Readonly<Record<string, Cell>> = { volumeEstimated: false, ...(encoded as object) }
  return csvRow(columns.map((name) => cells[name] ?? ''))
}

const header = csvRow(columns)

export const tradeFileReply = {
  files: {
    'text/csv': text(
      `A header row, ${columns.join(',')}, and a row for each trade (RFC 4180, UTF-8).`,
      header + rowOf(shape.example),
    ),
    'application/json': record('TradeExport', 'The trades without the envelope.', {
      trades: list(shape, 'Most recently closed first.'),
      provenance: tradeProvenanceShape,
    }),
  },
  headers: {
    'Content-Disposition': {
      description: 'attachment, with the name trades_<YYYY-MM-DD> of the UTC day.',
      schema: { type: 'string' },
    },
    'X-Skipped-Positions': {
      description: 'How many positions could not be folded into a trade.',
      schema: { type: 'integer', minimum: 0 },
    },
  },
}

export const tradeFile = (
  exported: TradeExport,
  format: (typeof exportFormats)[number],
): FileReply => ({
  headers: {
    'Content-Type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
    'Content-Disposition': `attachment; filename="trades_${toUtcDay(exported.exportedAt)}.${format}"`,
    'X-Skipped-Positions': String(exported.provenance.skipped.length),
  },
  content: (breather) =>
    pieces(exported, format === 'csv' ? csvFile : jsonFile(exported), breather),
})

interface FileFormat {
  readonly start: string
  readonly row: (encoded: unknown) => string
  readonly separator: string
  readonly end: string
}

const csvFile: FileFormat = { start: header, row: rowOf, separator: '', end: '' }
const jsonFile = ({ provenance }: TradeExport): FileFormat => ({
  start: '{"trades":[\n',
  row: JSON.stringify,
  separator: ',\n',
  end: `\n],"provenance":${JSON.stringify(tradeProvenanceShape.encode(provenance))}}\n`,
})

/** Well below a millisecond of work, also when the code has only just been loaded. */
const tradesPerPiece = 50

async function* pieces(
  { pages }: TradeExport,
  { start, row, separator, end }: FileFormat,
  { breathe }: Breather,
): AsyncGenerator<string, void, void> {
  yield start
  let before = ''
  for await (const trades of pages) {
    for (let from = 0; from < trades.length; from += tradesPerPiece) {
      await breathe()
      const rows = trades
        .slice(from, from + tradesPerPiece)
        .map((closed) => row(tradeShape.encode(closed)))
      yield before + rows.join(separator)
      before = separator
    }
  }
  yield end
}
