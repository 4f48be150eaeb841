// How the lists of every OrderStore hold still while orders arrive, numbered (4.2).
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProgramId } from '../access/credential.ts'
import type { Order, OrderRequest, PendingOrder } from '../orders/order.ts'
import type { PlacementStep } from '../orders/placement.ts'
import type { OrdersQuery, OrderStore } from '../ports/order-store.ts'
import type { Owner } from '../primitives/ids.ts'
import { dayMs, minuteMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Page } from '../primitives/pages.ts'
import { newOrder, placementOf, someProgram, toRecord } from './stored-orders.ts'
import type { OpenOrderPorts, OrderPorts } from './stored-orders.ts'
import { newAccountId, rightOf, storedOwner } from './stored-records.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const filled: PlacementStep = { placement: { step: 'settled' }, outcome: { kind: 'filled', fill: {} }, continueInMs: null }

interface Writing {
  readonly before: number
  readonly writers: number
  readonly stride: number
}

interface Walked extends Writing {
  readonly limit: number
  readonly filter: Partial<OrdersQuery>
}

const walks: fc.Arbitrary<Walked> = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  filter: fc.constantFrom<Partial<OrdersQuery>>({}, { symbol: 'XAUUSD' }, { from: noon - 2 * dayMs }, { to: noon + dayMs }),
  before: fc.integer({ min: 12, max: 24 }),
  writers: fc.integer({ min: 1, max: 4 }),
  stride: fc.constantFrom(1, 3, 7, 9),
})

/** On how many days orders are created in turn. */
const days = 10
/** What is recorded at most while a list is walked, so that no day gets more than a hundred. */
const mostOrders = 150

const matches = ({ symbol, from = -Infinity, to = Infinity }: Partial<OrdersQuery>, { request, createdAt }: Order): boolean =>
  (symbol === undefined || request.symbol === symbol) && createdAt >= from && createdAt <= to

interface Asked extends Partial<OrdersQuery> {
  readonly store?: OrderStore
  readonly program?: ProgramId
  readonly at?: Instant
}

export const orderListContract = (title: string, open: OpenOrderPorts): void => {
  describe(`lists of orders, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenOrderPorts>>
    let ports: OrderPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    const record = (owner: Owner, createdAt: Instant, request: Partial<OrderRequest> = {}, store = ports.orders): Promise<PendingOrder> =>
      rightOf(store.record(owner, toRecord(newOrder(owner, createdAt, request))))
    const settle = async (order: PendingOrder, store = ports.orders): Promise<void> => {
      expect(await rightOf(store.advance(order.owner, placementOf(order), filled, noon))).toBe(true)
    }
    const list = (owner: Owner, { store = ports.orders, program = someProgram, at = noon, ...query }: Asked = {}): Promise<Page<Order>> =>
      rightOf(store.list(owner, program, { page: 1, limit: 2, ...query }, at))
    /** What a page shows: the ids, and how many there are on all pages. */
    const shown = async (owner: Owner, asked: Asked = {}): Promise<readonly unknown[]> => {
      const { items, total } = await list(owner, asked)
      return [items.map(({ id }) => id), total]
    }
    /** A user with orders a millisecond apart; the newest first. */
    const ownerWith = async (count: number, request: Partial<OrderRequest> = {}): Promise<readonly [Owner, ...string[]]> => {
      const owner = await storedOwner(ports.operator)
      const ids: string[] = []
      for (let n = 0; n < count; n += 1) ids.unshift((await record(owner, noon + n, request)).id)
      return [owner, ...ids]
    }

    it('L1 goes on with the list of page 1 whatever is recorded meanwhile, and however it sorts', async () => {
      const [owner, a, b, c, d, e] = await ownerWith(5)
      expect(await shown(owner)).toStrictEqual([[a, b], 5])
      for (const createdAt of [noon + 9, noon + 4, noon + 1, noon - 9]) await record(owner, createdAt)
      expect(await shown(owner, { page: 2 })).toStrictEqual([[c, d], 5])
      await record(owner, noon + 9)
      expect(await shown(owner, { page: 3 })).toStrictEqual([[e], 5])
      expect(await shown(owner, { page: 4 })).toStrictEqual([[], 5])
      expect(await shown(owner, { page: 2 })).toStrictEqual([[c, d], 5])
    })

    it('L2 shows the newest on every page 1, and goes on with the last of them', async () => {
      const [owner, a, b, c] = await ownerWith(3)
      expect(await shown(owner)).toStrictEqual([[a, b], 3])
      const { id: newest } = await record(owner, noon + 9)
      expect(await shown(owner)).toStrictEqual([[newest, a], 4])
      await record(owner, noon + 10)
      expect(await shown(owner, { page: 2 })).toStrictEqual([[b, c], 4])
    })

    it('L3 is one list for all instances', async () => {
      const [owner, a, b, c] = await ownerWith(3)
      expect(await shown(owner, { store: ports.elsewhere })).toStrictEqual([[a, b], 3])
      await record(owner, noon + 9, {}, ports.elsewhere)
      expect(await shown(owner, { page: 2 })).toStrictEqual([[c], 3])
      const { items } = await list(owner)
      await record(owner, noon + 10)
      expect(items.map(({ createdAt }) => createdAt)).toStrictEqual([noon + 9, noon + 2])
      expect(await shown(owner, { page: 2, store: ports.elsewhere })).toStrictEqual([[b, c], 4])
    })

    it('L4 is kept for ten minutes after its page 1, and not much longer', async () => {
      const [owner, a, b, c] = await ownerWith(3)
      await list(owner)
      const { id: newest } = await record(owner, noon + 9)
      expect(await shown(owner, { page: 2, at: noon + 10 * minuteMs })).toStrictEqual([[c], 3])
      expect(await shown(owner, { page: 2, at: noon + 12 * minuteMs })).toStrictEqual([[b, c], 4])
      // Also where each page 1 shows what the one before it did.
      for (const minutes of [20, 20.5, 21, 25])
        expect(await shown(owner, { at: noon + minutes * minuteMs })).toStrictEqual([[newest, a], 4])
      await record(owner, noon + 10)
      expect(await shown(owner, { page: 2, at: noon + 35 * minuteMs })).toStrictEqual([[b, c], 4])
      expect(await shown(owner, { page: 2, at: noon + 37 * minuteMs })).toStrictEqual([[a, b], 5])
    })

    it('L5 is read anew on a further page where page 1 was not asked for, or was not full', async () => {
      const [owner, a] = await ownerWith(1)
      expect(await shown(owner)).toStrictEqual([[a], 1])
      const { id: newer } = await record(owner, noon + 8)
      await record(owner, noon + 9)
      expect(await shown(owner, { page: 2 })).toStrictEqual([[a], 3])
      expect(await shown(owner, { page: 2, limit: 1 })).toStrictEqual([[newer], 3])
      expect(await shown(owner, { page: 3, limit: 1 })).toStrictEqual([[a], 3])
    })

    it('L6 has nothing after a page 1 that holds just all there is, whatever is recorded meanwhile', async () => {
      const [owner, a, b] = await ownerWith(2)
      expect(await shown(owner)).toStrictEqual([[a, b], 2])
      await record(owner, noon + 9)
      expect(await shown(owner, { page: 2 })).toStrictEqual([[], 2])
    })

    it('L7 is each program’s, each user’s, and each filter’s and limit’s own', async () => {
      const accountId = newAccountId()
      const [owner, , , c, d] = await ownerWith(4, { accountId, clientId: 'bot' })
      const other = 'another program' as ProgramId
      const window = { from: noon - dayMs, to: noon + dayMs }
      const lists: readonly Asked[] = [
        {},
        { program: other },
        { limit: 1 },
        { accountId },
        { symbol: 'EURUSD' },
        { clientId: 'bot' },
        { status: 'pending' },
        window,
      ]
      const [stranger] = await ownerWith(4, { accountId, clientId: 'bot' })
      for (const [index, asked] of lists.entries()) {
        expect((await list(owner, asked)).total).toBe(4 + index)
        expect((await list(stranger, asked)).total).toBe(4 + index)
        await record(owner, noon + 9 + index, { accountId, clientId: 'bot' })
        await record(stranger, noon + 9 + index, { accountId, clientId: 'bot' })
      }
      for (const [index, asked] of lists.entries())
        for (const one of [owner, stranger]) expect((await list(one, { ...asked, page: 2 })).total).toBe(4 + index)
      expect(await shown(owner, { page: 2 })).toStrictEqual([[c, d], 4])
      // A list that was never begun.
      for (const asked of [{ from: noon }, { to: noon + dayMs }, { ...window, program: other }, { limit: 3 }])
        expect((await list(owner, { ...asked, page: 2 })).total).toBe(4 + lists.length)
    })

    it('L8 shows the orders of a list as they are now, and ends it with a page 1 that is not full', async () => {
      const owner = await storedOwner(ports.operator)
      const orders = [await record(owner, noon), await record(owner, noon + 1), await record(owner, noon + 2)] as const
      const pending = { status: 'pending' } as const
      await list(owner)
      await list(owner, pending)
      await settle(orders[0])
      expect((await list(owner, { page: 2 })).items.map(({ status }) => status)).toStrictEqual(['filled'])
      expect((await list(owner, { ...pending, page: 2 })).total).toBe(2)
      await settle(orders[1])
      expect((await list(owner, pending)).total).toBe(1)
      for (const createdAt of [noon + 7, noon + 8]) await record(owner, createdAt)
      expect((await list(owner, { ...pending, page: 2 })).total).toBe(3)
    })

    it('L9 is begun by many at once', async () => {
      const [owner] = await ownerWith(3)
      const pages = await Promise.all(
        Array.from({ length: 40 }, (_, index) => list(owner, { store: storeOf(index), page: 1 + (index % 3) })),
      )
      for (const { total } of pages) expect(total).toBe(3)
    })

    const storeOf = (n: number): OrderStore => (n % 2 === 0 ? ports.orders : ports.elsewhere)

    /** Writers that record as fast as they can, until they are stopped. Many orders are of one instant, and a new one may sort before or after any other. */
    const startWriting = async (owner: Owner, { before, writers, stride }: Writing) => {
      const asked = new Set<string>()
      const recorded: PendingOrder[] = []
      const state = { count: 0, isOver: false }
      const writeOne = async (lane: number): Promise<void> => {
        const n = (state.count += 1)
        const order = newOrder(owner, noon + (((n * stride) % days) - days / 2) * dayMs, { symbol: n % 2 === 0 ? 'XAUUSD' : 'EURUSD' })
        asked.add(order.id)
        recorded.push(await rightOf(storeOf(lane).record(owner, toRecord(order))))
        await settle(order, storeOf(n))
      }
      const write = async (lane: number): Promise<void> => {
        while (!state.isOver && state.count < mostOrders) await writeOne(lane)
      }
      while (state.count < before) await writeOne(state.count)
      const lanes = Array.from({ length: writers }, (_, lane) => write(lane))
      return {
        asked,
        recorded,
        stop: async (): Promise<void> => {
          state.isOver = true
          await Promise.all(lanes)
        },
      }
    }

    const walkWhileWritten = async ({ limit, filter, ...how }: Walked): Promise<void> => {
      const owner = await storedOwner(ports.operator)
      const { asked, recorded, stop } = await startWriting(owner, how)
      try {
        const there = recorded.filter((order) => matches(filter, order)).map(({ id }) => id)
        const { items, total } = await list(owner, { ...filter, limit })
        const early = new Set(asked)
        const walked = [...items]
        for (let page = 2; page <= Math.ceil(total / limit) + 1; page += 1) {
          const next = await list(owner, { ...filter, limit, page, store: storeOf(page) })
          expect(next.total).toBe(total)
          walked.push(...next.items)
        }
        const ids = walked.map(({ id }) => id)
        expect([ids.length, new Set(ids).size]).toStrictEqual([total, total])
        expect(there.filter((id) => !ids.includes(id))).toStrictEqual([])
        expect(ids.filter((id) => !early.has(id))).toStrictEqual([])
        const times = walked.map(({ createdAt }) => createdAt)
        expect(times).toStrictEqual(times.toSorted((a, b) => b - a))
      } finally {
        await stop()
      }
    }

    it('L10 repeats nothing and leaves out nothing while orders are recorded at full speed', async () => {
      await fc.assert(fc.asyncProperty(walks, walkWhileWritten), { numRuns: 10 })
    })
  })
}
