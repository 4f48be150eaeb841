// `each` of lists that change while they are read.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { clientWith, success } from './service.ts'

/** Before each page: the places of items that go, and how many come. */
const changes = fc.array(
  fc.record({
    goes: fc.array(fc.nat(700), { maxLength: 120 }),
    comes: fc.integer({ min: 0, max: 99 }),
  }),
  { maxLength: 8 },
)
const sizes = fc.integer({ min: 0, max: 650 })

const collect = async (items: AsyncIterable<{ readonly id: string }>) => {
  const ids: string[] = []
  for await (const { id } of items) ids.push(id)
  return ids
}

/**
 * A list of numbered items, and a client that reads it. `change` may replace it before each page.
 */
const listOf = (
  size: number,
  change: (ids: readonly string[], read: number) => readonly string[],
) => {
  let ids: readonly string[] = Array.from({ length: size }, (_, index) => String(index))
  let reads = 0
  const { client, sent } = clientWith([
    (request) => {
      if (reads > 0) ids = change(ids, reads - 1)
      reads += 1
      const query = new URL(request.url).searchParams
      const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))]
      const pagination = {
        has_next: page * limit < ids.length,
        total_pages: Math.ceil(ids.length / limit),
      }
      const data = ids.slice((page - 1) * limit, page * limit).map((id) => ({ id }))
      return success(data, { pagination })(request)
    },
  ])
  return { client, sent, ids }
}

const newIds = (count: number, read: number) =>
  Array.from({ length: count }, (_, index) => `new ${read} ${index}`)

it('positions that stay are returned once and in order, whichever others close and open', () =>
  fc.assert(
    fc.asyncProperty(sizes, changes, async (size, between) => {
      const gone = new Set<string>()
      const { client, ids } = listOf(size, (current, read) => {
        const { goes, comes } = between[read] ?? { goes: [], comes: 0 }
        for (const place of goes) gone.add(current[place] ?? '')
        return [...current.filter((id) => !gone.has(id)), ...newIds(comes, read)]
      })
      const returned = await collect(client.listPositions.each())
      const stayed = ids.filter((id) => !gone.has(id))
      expect(new Set(returned).size).toBe(returned.length)
      expect(returned.filter((id) => stayed.includes(id))).toEqual(stayed)
    }),
  ))

it('orders of the beginning are returned once and in order, however many come before them', () =>
  fc.assert(
    fc.asyncProperty(sizes, changes, async (size, between) => {
      const { client, ids } = listOf(size, (current, read) => [
        ...newIds(between[read]?.comes ?? 0, read),
        ...current,
      ])
      expect(await collect(client.listOrders.each())).toEqual(ids)
    }),
  ))

it('positions of one page are read once', async () => {
  const { client, sent } = listOf(100, (ids) => ids)
  expect(await collect(client.listPositions.each())).toHaveLength(100)
  expect(sent).toHaveLength(1)
})
