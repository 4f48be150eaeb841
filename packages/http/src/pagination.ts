// meta.pagination: of numbered pages, of the trade list, whose pages are reached by a cursor, and
// of lists that have nothing but a cursor.
import type { Page } from '@tradeport/domain/primitives'
import { cursor } from './fields.ts'
import { flag, list, record, whole } from './schema.ts'
import type { Schema, TypeOf } from './schema.ts'

const limit = whole('The most that a page holds.', 20)
const has_next = flag('Whether a page follows.')
const counted = {
  page: whole('The page, counted from 1.', 1),
  limit,
  total: whole('How many there are in all.', 312),
  total_pages: whole('How many pages there are; 0 without any item.', 16),
  has_next,
  has_prev: flag('Whether a page precedes.', false),
}

export const paginationShape = record('Pagination', 'Which page this is.', counted)
export const cursorPaginationShape = record(
  'CursorPagination',
  'Which page this is; its cursor leads to the next.',
  { ...counted, cursor },
)
export const listPaginationShape = record('ListPagination', 'The cursor leads to the next page.', {
  limit,
  has_next,
  cursor,
})

export const pageMeta = ({
  page,
  limit: most,
  total,
}: Omit<Page<unknown>, 'items'>): TypeOf<typeof paginationShape> => ({
  page,
  limit: most,
  total,
  total_pages: Math.ceil(total / most),
  has_next: page * most < total,
  has_prev: page > 1,
})

/**
 * @param before how many items precede the page: its number is that of its first item in pages of
 * this limit
 */
export const cursorMeta = (
  total: number,
  before: number,
  most: number,
  next: string | undefined,
): TypeOf<typeof cursorPaginationShape> => ({
  ...pageMeta({ page: Math.floor(before / most) + 1, limit: most, total }),
  has_next: next !== undefined,
  has_prev: before > 0,
  cursor: next,
})

/** A numbered page of a list, as data. */
export const answersPage = <A>(item: Schema<A>) => ({
  reply: { data: list(item, 'Newest first.'), meta: { pagination: paginationShape } },
  present: (page: Page<A>) => ({ data: page.items, meta: { pagination: pageMeta(page) } }),
})
