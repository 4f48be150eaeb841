// meta.pagination (2.1), for numbered pages and for the trade list, which is paged with a cursor.

export interface PaginationMeta {
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly total_pages: number
  readonly has_next: boolean
  readonly has_prev: boolean
  readonly cursor?: string | undefined
}

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
