// Reads all items of a list, page by page.

/** How all items of a list are read. */
export type Paging = 'cursor' | 'after' | 'before' | 'pages' | 'pages-from-the-last'

/** An item of any list: only its id is looked at. */
interface Item {
  readonly id: string
}

/** Reads a page by the parameters that are added to the caller's filters. */
export type ReadPage = (query: object) => Promise<{
  readonly data: readonly Item[]
  readonly meta: {
    readonly pagination: {
      readonly has_next: boolean
      readonly total_pages: number
      readonly cursor?: string | undefined
    }
  }
}>

const limit = 100

/** All items of a list, each once, page by page. */
export const allItems = (read: ReadPage, paging: Paging): AsyncIterable<Item> => ({
  [Symbol.asyncIterator]: () => {
    if (paging === 'pages') return byPage(read)
    return paging === 'pages-from-the-last' ? fromTheLast(read) : byCursor(read, paging)
  },
})

/** @param name the query parameter that says where to go on */
async function* byCursor(
  read: ReadPage,
  name: 'cursor' | 'after' | 'before',
): AsyncGenerator<Item, void, void> {
  let place: string | undefined
  do {
    // The first page is that of the caller's own filters, which may have a place.
    const { data, meta } = await read({ limit, ...(place !== undefined && { [name]: place }) })
    yield* data
    place = meta.pagination.has_next ? meta.pagination.cursor : undefined
  } while (place !== undefined)
}

/** For lists that grow at their beginning, which moves items to later pages. */
async function* byPage(read: ReadPage): AsyncGenerator<Item, void, void> {
  const isNew = createFirstSeen()
  for (let page = 1; ; page++) {
    const { data, meta } = await read({ limit, page })
    yield* data.filter(isNew)
    if (!meta.pagination.has_next) return
  }
}

/**
 * For lists that lose items anywhere, which moves items to earlier pages, and grow at their end. In
 * this order a moved item is read twice instead of missed.
 */
async function* fromTheLast(read: ReadPage): AsyncGenerator<Item, void, void> {
  const first = await read({ limit, page: 1 })
  let items: readonly Item[] = []
  for (let page = first.meta.pagination.total_pages; page > 1; page--)
    items = [...(await read({ limit, page })).data, ...items]
  const start = items.length === 0 ? first : await read({ limit, page: 1 })
  yield* [...start.data, ...items].filter(createFirstSeen())
}

const createFirstSeen = () => {
  const seen = new Set<string>()
  return ({ id }: Item): boolean => {
    if (seen.has(id)) return false
    seen.add(id)
    return true
  }
}
