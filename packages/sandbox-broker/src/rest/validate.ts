// Checks of query parameters and path times. A value out of bounds is refused, not clamped.
import type { Context } from './context.ts'
import type { Detail } from './reply.ts'

const PAGE_LIMIT_MAX = 1_000

export type Page = { readonly offset: number; readonly limit: number }

export type Checked<A> = { readonly details: readonly Detail[]; readonly value: A }

export const checkPage = (ctx: Context): Checked<Page> => {
  const offset = checkWhole(ctx, 'offset', 0, 0, Number.MAX_SAFE_INTEGER)
  const limit = checkWhole(ctx, 'limit', PAGE_LIMIT_MAX, 1, PAGE_LIMIT_MAX)
  return {
    details: [...offset.details, ...limit.details],
    value: { offset: offset.value, limit: limit.value },
  }
}

/** An ISO 8601 time in the path. */
export const checkTime = ({ params }: Context, parameter: string): Checked<number> => {
  const text = params[parameter] ?? ''
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(at)) return { details: [], value: at }
  return {
    details: [{ parameter, value: text, message: 'Value must be a time in ISO 8601' }],
    value: 0,
  }
}

const checkWhole = (
  ctx: Context,
  parameter: string,
  unset: number,
  least: number,
  most: number,
): Checked<number> => {
  const [text] = [ctx.query[parameter]].flat()
  if (text === undefined) return { details: [], value: unset }
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return { details: [], value }
  return {
    details: [
      { parameter, value: text, message: `Value must be a whole number from ${least} to ${most}` },
    ],
    value: unset,
  }
}
