// GET /orders page by page while orders arrive, as a program walks it: nothing is repeated and nothing left out, whoever asks meanwhile.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openDesk } from './support/order-desk.ts'
import type { OrderDesk } from './support/order-desk.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
// Nine o'clock of tomorrow: never near midnight, and ahead of the database's own clock, by which lists of long ago are cleared away.
const clock = createTestClock(Math.floor(Date.now() / dayMs) * dayMs + 33 * 60 * minuteMs)
/** Its market is shut for the whole file: an order in it is accepted, and ends without touching the book. */
const shut = 'UKOIL'
const limit = 3

let service: RunningService
let desk: OrderDesk
let users = 0

const scopes = ['accounts:read', 'trading:read', 'trading:write']
const place = async (count: number): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) ids.unshift((await desk.place()).id)
  return ids
}
const pageOf = async (page: number, from: Pick<OrderDesk, 'get'> = desk, filter = ''): Promise<Json> => {
  const { status, body } = await from.get(`/orders?page=${page}&limit=${limit}${filter}`)
  expect(status).toBe(200)
  return body
}
const idsOf = (body: Json): readonly string[] => body.data.map(({ id }: Json) => id)
/** All pages of a list, with something done between any two. */
const walk = async (between: () => Promise<unknown>, filter = ''): Promise<{ readonly ids: readonly string[]; readonly first: Json }> => {
  const first = await pageOf(1, desk, filter)
  const ids = [...idsOf(first)]
  for (let page = 2, { pagination } = first.meta; pagination.has_next; page += 1) {
    await between()
    const body = await pageOf(page, desk, filter)
    pagination = body.meta.pagination
    expect(pagination).toMatchObject({ page, total: first.meta.pagination.total, total_pages: first.meta.pagination.total_pages })
    ids.push(...idsOf(body))
  }
  return { ids, first }
}

beforeAll(async () => {
  service = await startTestService([{ id: 'main' }], { now: clock.now })
  service.sandbox.market.close(shut)
})
afterAll(() => service?.close())
beforeEach(async () => {
  clock.advance(minuteMs)
  users += 1
  const user = `u-${users}`
  const accountId = newAccountUuid(users)
  const key = `tp_live_only_for_automated_tests_pages_${user}`
  await service.setUp(linkDocument({ tenant: 'acme', user, key, providerToken }, [{ id: accountId, providerAccountId: 'main' }], scopes))
  desk = openDesk(service, { key, accountId, order: { symbol: shut } })
})

describe('GET /orders page by page', () => {
  it('shows what there was at page 1, although orders arrive between any two pages', async () => {
    const before = await place(10)
    const { ids } = await walk(() => place(2))
    expect(ids).toEqual(before)
  })

  it('shows the newest on page 1 at any time, and in a list without parameters', async () => {
    const before = await place(4)
    await pageOf(1)
    const [newest] = await place(1)
    expect(idsOf((await desk.get('/orders')).body)).toEqual([newest, ...before])
    expect(idsOf(await pageOf(2))).toEqual(before.slice(3))
    expect(idsOf(await pageOf(1))).toEqual([newest, ...before.slice(0, 2)])
    expect(idsOf(await pageOf(2))).toEqual(before.slice(2))
  })

  it('repeats nothing and leaves out nothing while orders are placed as fast as they can be', async () => {
    const before = await place(9)
    const sent: string[] = []
    const walking = { isOver: false }
    const writing = (async () => {
      while (!walking.isOver && sent.length < 35) sent.push(...(await place(1)))
    })()
    const { ids, first } = await walk(() => desk.get('/orders'), `&symbol=${shut}`)
    walking.isOver = true
    await writing
    expect(new Set(ids).size).toBe(first.meta.pagination.total)
    expect(ids).toHaveLength(first.meta.pagination.total)
    // The newest that were there at page 1, and all before them.
    expect(ids).toEqual([...before.toReversed(), ...sent].slice(0, ids.length).toReversed())
  })

  it('is not disturbed by another key of the same user, nor by an application', async () => {
    const before = await place(7)
    const user = `u-${users}`
    const key = `tp_live_only_for_automated_tests_pages_${user}_other`
    const tokens = [1, 2].map((n) => ({ id: `${user}-t${n}`, userId: user, applicationId: 'app', token: `${user}-token-${n}`, scopes }))
    await service.setUp({ apiKeys: [{ id: `${user}-other`, userId: user, name: 'bot', key, scopes }], accessTokens: tokens })
    const other = openDesk(service, { key, accountId: newAccountUuid(users) })
    const [app, refreshed] = tokens.map(({ token }) => ({
      get: (path: string) => request(`${service.apiUrl}/api/v1${path}`, { headers: { Authorization: `Bearer ${token}` } }),
    }))
    await pageOf(1)
    const [second] = await place(1)
    expect(idsOf(await pageOf(1, other))).toEqual([second, ...before.slice(0, 2)])
    const [third] = await place(1)
    expect(idsOf(await pageOf(1, app))).toEqual([third, second, before[0]])
    await place(1)
    expect(idsOf(await pageOf(2))).toEqual(before.slice(3, 6))
    expect(idsOf(await pageOf(2, other))).toEqual(before.slice(2, 5))
    // An application goes on with its list after it was given another token.
    expect(idsOf(await pageOf(2, refreshed))).toEqual(before.slice(1, 4))
  })

  it('goes on after the service was started again, for ten minutes', async () => {
    const before = await place(5)
    await pageOf(1)
    const newer = await place(2)
    await service.restart()
    clock.advance(10 * minuteMs)
    expect(idsOf(await pageOf(2))).toEqual(before.slice(3))
    clock.advance(2 * minuteMs)
    expect(idsOf(await pageOf(2))).toEqual([...newer, ...before].slice(3, 6))
  })
})
