// The kinds of parameters that routes take, with the bounds of specification section 8 (4.1 to 4.5; decisions 5 and 8).
import { parseAccountId, parseInstant, parseSymbolFilter, symbolFilterPattern } from '@tradeport/domain'
import type { AccountId, Instant, RangeEdge, SymbolFilter } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { exampleAccountId } from '../presenters/examples.ts'
import { isOrderSymbol, orderSymbolBounds, orderSymbolTakes } from './order-symbol.ts'
import { parsedText } from './parameter.ts'
import type { ParameterKind } from './parameter.ts'

// A page far beyond any list, below which no product of page and limit loses a digit.
const lastPage = 1_000_000
const printable = /^[ -~]{1,255}$/
const digits = /^\d{1,15}$/

export const wholeNumber = (minimum: number, maximum: number, description: string): ParameterKind<number> => ({
  codec: parsedText(`WholeNumber(${minimum}, ${maximum})`, (text) =>
    O.fromPredicate((value: number) => digits.test(text) && value >= minimum && value <= maximum)(Number(text)),
  ),
  takes: `a whole number from ${minimum} to ${maximum}, in digits`,
  description,
  schema: { type: 'integer', minimum, maximum },
})

export const oneOf = <A extends string>(values: readonly A[], description: string): ParameterKind<A> => ({
  codec: parsedText(`OneOf(${values.join(', ')})`, (text) => O.fromNullable(values.find((value) => value === text))),
  takes: `one of ${values.join(', ')}`,
  description,
  schema: { type: 'string', enum: values },
})

/** Lengths count Unicode code points (decision 5). */
export const textOf = (maxLength: number, description: string): ParameterKind<string> => ({
  codec: parsedText(
    `Text(${maxLength})`,
    O.fromPredicate((text: string) => text !== '' && Array.from(text).length <= maxLength),
  ),
  takes: `1 to ${maxLength} characters`,
  description,
  schema: { type: 'string', minLength: 1, maxLength },
})

/** Whatever text, for a use case that reads it itself. @param example one that it might know */
export const anyText = (description: string, example?: string): ParameterKind<string> => ({
  codec: parsedText('AnyText', O.some),
  takes: 'any text',
  description,
  schema: { type: 'string', ...(example === undefined ? {} : { examples: [example] }) },
  takesAll: true,
})

/** The form of a date or a date-time; whether there is such a day no pattern tells. */
export const instantPattern = String.raw`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$`

export const instantAt = (edge: RangeEdge, description: string): ParameterKind<Instant> => ({
  codec: parsedText(`Instant(${edge})`, (text) => parseInstant(text, edge)),
  takes: 'an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B)',
  description,
  schema: {
    type: 'string',
    pattern: instantPattern,
    examples: [edge === 'start' ? '2026-01-31' : '2026-01-31T09:30:00Z'],
  },
})

export const accountId: ParameterKind<AccountId> = {
  codec: parsedText('AccountId', parseAccountId),
  takes: 'the UUID of a linked account',
  description: 'The id of a linked account.',
  schema: { type: 'string', format: 'uuid', examples: [exampleAccountId] },
}

export const symbol: ParameterKind<SymbolFilter> = {
  codec: parsedText('Symbol', parseSymbolFilter),
  takes: '1 to 32 visible characters with letters in capitals, such as EURUSD',
  description: 'An instrument, in capitals; the case in which the broker spells it does not count.',
  schema: { type: 'string', minLength: 1, maxLength: 32, pattern: symbolFilterPattern.source, examples: ['EURUSD'] },
}

export const orderSymbol: ParameterKind<string> = {
  codec: parsedText('OrderSymbol', O.fromPredicate(isOrderSymbol)),
  takes: orderSymbolTakes,
  description: 'The symbol as it stands on the order.',
  schema: { type: 'string', ...orderSymbolBounds, examples: ['EURUSD'] },
}

// A header's text is ASCII wherever its sender and its reader must agree on it (RFC 9110, 5.5).
export const idempotencyKey: ParameterKind<string> = {
  codec: parsedText(
    'IdempotencyKey',
    O.fromPredicate((text: string) => printable.test(text)),
  ),
  takes: '1 to 255 printable ASCII characters',
  description: 'Names the order to be made: sent again within 24 hours with the same body, it makes no second one.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: printable.source },
}

export const page = wholeNumber(1, lastPage, 'The page, counted from 1.')

export const pageSize = (maximum: number): ParameterKind<number> => wholeNumber(1, maximum, 'How many to answer at most.')
