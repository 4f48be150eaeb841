// meta.pagination (2.1), for numbered pages, for the trade list, which is paged with a cursor, and for the operator's lists, which have nothing else.
import { flag, maybe, record, text, whole } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'

const counted = {
  page: whole('The page, counted from 1.', 1),
  limit: whole('How many a page holds at most.', 20),
  total: whole('How many there are in all.', 312),
  total_pages: whole('How many pages there are; 0 where there is nothing.', 16),
  has_next: flag('Whether a page follows.', true),
  has_prev: flag('Whether a page goes before.', false),
}

export const paginationShape = record('Pagination', 'Where a page stands among all.', counted)

export const cursorPaginationShape = record('CursorPagination', 'Where a page stands among all, and how to get the next.', {
  ...counted,
  cursor: maybe(text('Sent as cursor with the same filters it gives the next page; left out on the last.', 'djE6MTc2MzY0NzUwOTAwMA')),
})

export type PaginationMeta = Shown<typeof cursorPaginationShape>

/** Of a numbered page; there are no pages of nothing. */
export const pageMeta = ({
  page,
  limit,
  total,
}: {
  readonly page: number
  readonly limit: number
  readonly total: number
}): PaginationMeta => ({
  page,
  limit,
  total,
  total_pages: Math.ceil(total / limit),
  has_next: page * limit < total,
  has_prev: page > 1,
})

/**
 * Of a page reached by a cursor.
 * @param before how many items come before it: the page's number is the one that its first item has in pages of this limit
 */
export const cursorMeta = (total: number, before: number, limit: number, cursor: string | undefined): PaginationMeta => ({
  page: Math.floor(before / limit) + 1,
  limit,
  total,
  total_pages: Math.ceil(total / limit),
  has_next: cursor !== undefined,
  has_prev: before > 0,
  cursor,
})

/** Of a list that is read by cursor alone, and not counted. */
export interface KeysetMeta {
  readonly limit: number
  readonly has_next: boolean
  /** Absent on the last piece. */
  readonly cursor?: string | undefined
}

export const keysetMeta = (limit: number, cursor: string | undefined): KeysetMeta => ({ limit, has_next: cursor !== undefined, cursor })
