// Closed trades as a file, which is written piece by piece, so that a long history delays no other request.
import type { Yielder } from '@tradeport/domain/ports'
import { toUtcDay } from '@tradeport/domain/primitives'
import type { TradeExport } from '@tradeport/domain/use-cases'
import { tradeProvenanceShape, tradeShape } from '../fields.ts'
import type { StreamedReply } from '../route.ts'
import { list, record, text } from '../schema.ts'

type Cell = string | number | boolean

// 100 decimal places are the most that it can write.
const withoutExponent = new Intl.NumberFormat('en-US', {
  useGrouping: false,
  maximumFractionDigits: 100,
})

/**
 * A cell of CSV (RFC 4180). A number has the shortest digits that read back as the same, without an
 * exponent; text that a spreadsheet would run gets an apostrophe in front.
 */
const csvCell = (cell: Cell): string => {
  const plain = String(cell)
  if (typeof cell === 'number') return plain.includes('e') ? withoutExponent.format(cell) : plain
  const text = /^[=+\-@\t\r\n]/.test(plain) ? `'${plain}` : plain
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const columns =
  'id,accountId,positionId,symbol,type,volume,entryPrice,exitPrice,profit,commission,swap,netProfit,holdingTime,openedAt,closedAt,volumeEstimated'

const csvRow = (encoded: unknown): string => {
  const cells: Readonly<Record<string, Cell>> = { volumeEstimated: false, ...Object(encoded) }
  return `${columns
    .split(',')
    .map((name) => csvCell(cells[name] ?? ''))
    .join()}\r\n`
}

export const exportFormats = ['csv', 'json'] as const

export const tradeFileReply = {
  streamedContent: {
    'text/csv': text(
      `A header row, ${columns}, and a row for each trade (RFC 4180, UTF-8).`,
      `${columns}\r\n${csvRow(tradeShape.example)}`,
    ),
    'application/json': record('TradeExport', 'The trades without the envelope.', {
      trades: list(tradeShape, 'Most recently closed first.'),
      provenance: tradeProvenanceShape,
    }),
  },
  streamedHeaders: {
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

/** Well below a millisecond of work, also when the code has only just been loaded. */
const tradesPerPiece = 50

export const tradeFile = (
  { pages, provenance, exportedAt }: TradeExport,
  format: (typeof exportFormats)[number],
): StreamedReply => {
  const file =
    format === 'csv'
      ? {
          type: 'text/csv; charset=utf-8',
          start: `${columns}\r\n`,
          row: csvRow,
          separator: '',
          end: '',
        }
      : {
          type: 'application/json',
          start: '{"trades":[\n',
          row: JSON.stringify,
          separator: ',\n',
          end: `\n],"provenance":${JSON.stringify(tradeProvenanceShape.encode(provenance))}}\n`,
        }
  return {
    headers: {
      'Content-Type': file.type,
      'Content-Disposition': `attachment; filename="trades_${toUtcDay(exportedAt)}.${format}"`,
      'X-Skipped-Positions': String(provenance.skipped.length),
    },
    async *content({ yieldToOthers }: Yielder) {
      yield file.start
      let before = ''
      for await (const trades of pages) {
        for (let from = 0; from < trades.length; from += tradesPerPiece) {
          await yieldToOthers()
          const rows = trades
            .slice(from, from + tradesPerPiece)
            .map((closed) => file.row(tradeShape.encode(closed)))
          yield before + rows.join(file.separator)
          before = file.separator
        }
      }
      yield file.end
    },
  }
}
