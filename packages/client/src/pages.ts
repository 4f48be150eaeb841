// Walks through the items of a list, page by page.
import type { Walk } from './routes.ts'

/** A page as every list answers it; `cursor` is told by lists that are paged with one. */
export interface AnyPage<Item> {
  readonly data: readonly Item[]
  readonly meta: {
    readonly pagination: {
      readonly has_next: boolean
      readonly total_pages: number
      readonly cursor?: string | undefined
    }
  }
}

export interface PageQuery {
  readonly limit: number
  readonly page?: number
  readonly cursor?: string | undefined
}

type ReadPage<Item> = (query: PageQuery) => Promise<AnyPage<Item>>

interface Identified {
  readonly id: string
}

/** As many as a page may hold. */
const limit = 100

/** Each item once. */
export const walkThrough = <Item extends Identified>(
  read: ReadPage<Item>,
  walk: Walk,
): AsyncIterable<Item> => ({
  [Symbol.asyncIterator]: () => walks[walk](read),
})

async function* byCursor<Item>(read: ReadPage<Item>): AsyncGenerator<Item, void, void> {
  let cursor: string | undefined
  do {
    const { data, meta } = await read(cursor === undefined ? { limit } : { limit, cursor })
    yield* data
    cursor = meta.pagination.cursor
  } while (cursor !== undefined)
}

/**
 * For lists that grow at their beginning: what comes in meanwhile moves items to later pages, where
 * they are met again.
 */
async function* byPage<Item extends Identified>(
  read: ReadPage<Item>,
): AsyncGenerator<Item, void, void> {
  const isNew = newOnes()
  for (let page = 1; ; page++) {
    const { data, meta } = await read({ limit, page })
    yield* data.filter(isNew)
    if (!meta.pagination.has_next) return
  }
}

/**
 * For lists that lose items anywhere and grow at their end: read forwards, an item that moves to an
 * earlier page would be missed; read from the last page to the first, it is met twice. Whatever was
 * there all the while is there once, in the list's order.
 */
async function* fromTheLast<Item extends Identified>(
  read: ReadPage<Item>,
): AsyncGenerator<Item, void, void> {
  const first = await read({ limit, page: 1 })
  const pages: (readonly Item[])[] = []
  for (let page = first.meta.pagination.total_pages; page > 1; page--)
    pages.unshift((await read({ limit, page })).data)
  pages.unshift(pages.length === 0 ? first.data : (await read({ limit, page: 1 })).data)
  yield* pages.flat().filter(newOnes())
}

const walks: {
  readonly [W in Walk]: <Item extends Identified>(
    read: ReadPage<Item>,
  ) => AsyncGenerator<Item, void, void>
} = {
  cursor: byCursor,
  pages: byPage,
  'pages-from-the-last': fromTheLast,
}

const newOnes = (): ((item: Identified) => boolean) => {
  const seen = new Set<string>()
  return ({ id }) => seen.size < seen.add(id).size
}
