// meta.pagination: of numbered pages, of the trade list, whose pages are reached by a cursor, and of lists that have nothing but a cursor.
import { flag, optional, record, text, whole } from './schema.ts'
import type { TypeOf } from './schema.ts'

const counted = {
  page: whole('The page, counted from 1.', 1),
  limit: whole('The most that a page holds.', 20),
  total: whole('How many there are in all.', 312),
  total_pages: whole('How many pages there are; 0 without any item.', 16),
  has_next: flag('Whether a page follows.', true),
  has_prev: flag('Whether a page precedes.', false),
}
const cursor = optional(
  text('Send it as cursor with the same filters to get the next page; left out on the last.', 'djE6MTc2MzY0NzUwOTAwMA'),
)

export const paginationShape = record('Pagination', 'Which page this is.', counted)
export const cursorPaginationShape = record('CursorPagination', 'Which page this is, and how to get the next.', { ...counted, cursor })
export const listPaginationShape = record('ListPagination', 'How to get the next page.', {
  limit: counted.limit,
  has_next: counted.has_next,
  cursor,
})

interface Counted {
  readonly page: number
  readonly limit: number
  readonly total: number
}

export const pageMeta = ({ page, limit, total }: Counted): TypeOf<typeof paginationShape> => ({
  page,
  limit,
  total,
  total_pages: Math.ceil(total / limit),
  has_next: page * limit < total,
  has_prev: page > 1,
})

/** @param before how many items precede the page: its number is that of its first item in pages of this limit */
export const cursorMeta = (
  total: number,
  before: number,
  limit: number,
  next: string | undefined,
): TypeOf<typeof cursorPaginationShape> => ({
  ...pageMeta({ page: Math.floor(before / limit) + 1, limit, total }),
  has_next: next !== undefined,
  has_prev: before > 0,
  cursor: next,
})
