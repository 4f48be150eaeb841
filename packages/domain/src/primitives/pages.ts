// Numbered pages, as `meta.pagination` of a reply describes them.

export interface PageRequest {
  /** 1 for the first page. */
  readonly page: number
  readonly limit: number
}

export interface Page<A> {
  readonly data: readonly A[]
  readonly pagination: PageRequest & {
    /** How many items there are on all pages. */
    readonly total: number
  }
}

/** The requested page of a whole list; a page beyond the last is empty. */
export const pageOf = <A>(all: readonly A[], { page, limit }: PageRequest): Page<A> => ({
  data: all.slice((page - 1) * limit, page * limit),
  pagination: { page, limit, total: all.length },
})
