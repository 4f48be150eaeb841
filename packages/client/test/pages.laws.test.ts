// What holds for a walk through a list that changes while it is walked through.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { walkThrough } from '../src/pages.ts'
import type { AnyPage, PageQuery } from '../src/pages.ts'

interface Item {
  readonly id: string
}

/**
 * What happens to the list before each of its pages is read: items are lost, by place, and others
 * come.
 */
const changes = fc.array(
  fc.record({
    lost: fc.array(fc.nat(700), { maxLength: 120 }),
    come: fc.integer({ min: 0, max: 120 }),
  }),
  {
    maxLength: 8,
  },
)
const sizes = fc.integer({ min: 0, max: 650 })

const pageOf = (all: readonly Item[], { limit, page = 1 }: PageQuery): AnyPage<Item> => ({
  data: all.slice((page - 1) * limit, page * limit),
  meta: {
    pagination: { has_next: page * limit < all.length, total_pages: Math.ceil(all.length / limit) },
  },
})

const collect = async (items: AsyncIterable<Item>): Promise<readonly string[]> => {
  const ids: string[] = []
  for await (const { id } of items) ids.push(id)
  return ids
}

const counted = (count: number, from = 0): readonly Item[] =>
  Array.from({ length: count }, (_, index) => ({ id: String(from + index) }))

describe('a walk from the last page', () => {
  it('gives whatever was there all the while, once and in order, whatever is lost and comes meanwhile', () =>
    fc.assert(
      fc.asyncProperty(sizes, changes, async (size, between) => {
        let all = counted(size)
        let next = size
        const stayed = new Set(all.map(({ id }) => id))
        let reads = 0
        const read = async (query: PageQuery): Promise<AnyPage<Item>> => {
          const { lost, come } =
            reads === 0 ? { lost: [], come: 0 } : (between[reads - 1] ?? { lost: [], come: 0 })
          reads += 1
          const gone = new Set(lost.map((place) => all[place]?.id))
          for (const id of gone) if (id !== undefined) stayed.delete(id)
          all = [...all.filter(({ id }) => !gone.has(id)), ...counted(come, next)]
          next += come
          return pageOf(all, query)
        }
        const ids = await collect(walkThrough(read, 'pages-from-the-last'))
        expect(new Set(ids).size).toBe(ids.length)
        expect(ids.filter((id) => stayed.has(id))).toEqual([...stayed])
      }),
    ))

  it('reads a list of one page once', async () => {
    let reads = 0
    const read = async (query: PageQuery): Promise<AnyPage<Item>> => {
      reads += 1
      return pageOf(counted(100), query)
    }
    expect(await collect(walkThrough(read, 'pages-from-the-last'))).toHaveLength(100)
    expect(reads).toBe(1)
  })
})

describe('a walk page by page', () => {
  it('gives whatever was there at its beginning, once and in order, whatever comes before it meanwhile', () =>
    fc.assert(
      fc.asyncProperty(
        sizes,
        fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 8 }),
        async (size, coming) => {
          let all = counted(size)
          const atFirst = all.map(({ id }) => id)
          let next = size
          let reads = 0
          const read = async (query: PageQuery): Promise<AnyPage<Item>> => {
            const come = reads === 0 ? 0 : (coming[reads - 1] ?? 0)
            reads += 1
            all = [...counted(come, next), ...all]
            next += come
            return pageOf(all, query)
          }
          expect(await collect(walkThrough(read, 'pages'))).toEqual(atFirst)
        },
      ),
    ))
})

describe('a walk by cursor', () => {
  it('asks for each page with the cursor of the one before it, until there is none', async () => {
    const asked: PageQuery[] = []
    const read = async (query: PageQuery): Promise<AnyPage<Item>> => {
      asked.push(query)
      const cursor = ['a', 'b', undefined][asked.length - 1]
      return {
        data: [{ id: String(asked.length) }],
        meta: { pagination: { has_next: cursor !== undefined, total_pages: 3, cursor } },
      }
    }
    expect(await collect(walkThrough(read, 'cursor'))).toEqual(['1', '2', '3'])
    expect(asked).toEqual([
      { limit: 100 },
      { limit: 100, cursor: 'a' },
      { limit: 100, cursor: 'b' },
    ])
  })
})
