// Checks of query parameters and path times, which refuse what is out of bounds instead of clamping it.
import type { Detail } from './reply.ts'

const PAGE_LIMIT_MAX = 1_000

export type Page = { readonly offset: number; readonly limit: number }

export type Checked<A> = { readonly details: readonly Detail[]; readonly value: A }

export const checkPage = (query: URLSearchParams): Checked<Page> => {
  const offset = checkWhole(query, 'offset', 0, 0, Number.MAX_SAFE_INTEGER)
  const limit = checkWhole(query, 'limit', PAGE_LIMIT_MAX, 1, PAGE_LIMIT_MAX)
  return { details: [...offset.details, ...limit.details], value: { offset: offset.value, limit: limit.value } }
}

/** An ISO 8601 time in the path. */
export const checkTime = (params: Readonly<Record<string, string>>, parameter: string): Checked<number> => {
  const text = params[parameter] ?? ''
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(at)) return { details: [], value: at }
  return { details: [{ parameter, value: text, message: 'Value must be a time in ISO 8601' }], value: 0 }
}

export const checkFlag = (query: URLSearchParams, parameter: string): readonly Detail[] => {
  const text = query.get(parameter)
  if (text === null || text === 'true' || text === 'false') return []
  return [{ parameter, value: text, message: 'Value must be true or false' }]
}

const checkWhole = (query: URLSearchParams, parameter: string, unset: number, least: number, most: number): Checked<number> => {
  const text = query.get(parameter)
  if (text === null) return { details: [], value: unset }
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return { details: [], value }
  return { details: [{ parameter, value: text, message: `Value must be a whole number from ${least} to ${most}` }], value: unset }
}
