// A closed trade as JSON, and the export of many as a file that is written piece by piece, so that a long history holds nobody up.
import { formatPositionId, toUtcDay } from '@tradeport/domain'
import type { Breather, ClosedTrade, TradeExport } from '@tradeport/domain'
import { exampleAccountId, examplePositionId, exampleTicket, exampleUserId } from '../examples.ts'
import type { FileReply } from '../route.ts'
import { decimal, flag, list, oneOf, record, seldom, text, time, uuid, whole } from '../schema.ts'
import { csvRow } from './csv.ts'
import type { Cell } from './csv.ts'
import { sides } from './orders.ts'
import { tradeProvenanceShape } from './provenance.ts'

export const tradeShape = record('Trade', 'A position whose whole volume is closed, folded from all of its deals.', {
  id: text('Names it on GET /trades/{id}.', examplePositionId),
  userId: text('The owner.', exampleUserId),
  accountId: uuid('The account.', exampleAccountId),
  positionId: text("The broker's ticket of the position.", exampleTicket),
  symbol: text('The instrument, as the broker spells it.', 'EURUSD'),
  type: oneOf(sides, 'The direction.'),
  volume: decimal('Lots.', 0.2),
  entryPrice: decimal('Weighted by volume.', 1.0842),
  exitPrice: decimal('Weighted by volume.', 1.0861),
  swap: decimal('Sum of all deals; charges are negative.', -1.12),
  commission: decimal('Sum of all deals; charges are negative.', -1.4),
  profit: decimal('Sum of all deals, before commission and swap.', 38),
  netProfit: decimal('profit + commission + swap.', 35.48),
  holdingTime: whole('Whole seconds from openedAt to closedAt, rounded down.', 5_400),
  openedAt: time('The first opening deal.', '2026-11-20T12:35:09.000Z'),
  closedAt: time('The last closing deal.'),
  volumeEstimated: seldom(flag('True when a closing deal had no volume, and volume is the volume opened; else left out.', true)),
})

export const presentTrade = ({ accountId: account, userId, trade: folded }: ClosedTrade) => ({
  ...folded,
  id: formatPositionId(account, folded.positionId),
  userId,
  accountId: account,
  type: folded.side,
})

export const exportFormats = ['csv', 'json'] as const

const columns =
  'id,accountId,positionId,symbol,type,volume,entryPrice,exitPrice,profit,commission,swap,netProfit,holdingTime,openedAt,closedAt,volumeEstimated'.split(
    ',',
  )

const rowOf = (encoded: unknown): string => {
  const cells = { volumeEstimated: false, ...(encoded as Readonly<Record<string, Cell>>) } as Readonly<Record<string, Cell>>
  return csvRow(columns.map((name) => cells[name] ?? ''))
}

const header = csvRow(columns)

export const tradeFileReply = {
  files: {
    'text/csv': text(`A header row, ${columns.join(',')}, and a row for each trade (RFC 4180, UTF-8).`, header + rowOf(tradeShape.example)),
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

export const tradeFile = (exported: TradeExport, format: (typeof exportFormats)[number]): FileReply => ({
  headers: {
    'Content-Type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
    'Content-Disposition': `attachment; filename="trades_${toUtcDay(exported.exportedAt)}.${format}"`,
    'X-Skipped-Positions': String(exported.provenance.skipped.length),
  },
  content: format === 'csv' ? (breather) => csvPieces(exported, breather) : (breather) => jsonPieces(exported, breather),
})

/** Well below a millisecond of work, also when the code has only just been loaded. */
const tradesPerPiece = 50

// The trades of each piece as JSON values.
async function* encodedPieces({ trades }: TradeExport, { breathe }: Breather): AsyncGenerator<readonly unknown[], void, void> {
  for (let from = 0; from < trades.length; from += tradesPerPiece) {
    await breathe()
    yield trades.slice(from, from + tradesPerPiece).map((closed) => tradeShape.encode(presentTrade(closed)))
  }
}

async function* csvPieces(exported: TradeExport, breather: Breather): AsyncGenerator<string, void, void> {
  yield header
  for await (const piece of encodedPieces(exported, breather)) yield piece.map(rowOf).join('')
}

async function* jsonPieces(exported: TradeExport, breather: Breather): AsyncGenerator<string, void, void> {
  yield '{"trades":['
  let separator = '\n'
  for await (const piece of encodedPieces(exported, breather)) {
    yield separator + piece.map((encoded) => JSON.stringify(encoded)).join(',\n')
    separator = ',\n'
  }
  yield `\n],"provenance":${JSON.stringify(tradeProvenanceShape.encode(exported.provenance))}}\n`
}
