// Whatever id a caller sends on whatever route, it never sees, changes or learns of another's record: what is answered to an id of another's is byte
// for byte what is answered to one that never was, the broker is asked nothing for it, and its owner finds everything as it was. The cases are read off the
// API's own table.
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes } from '@tradeport/http'
import type { Json, Reply } from '../support/running-service.ts'
import { casesOf, ownBodiesOf, slotsOf } from './cases.ts'
import type { ApiRoute, Asked } from './cases.ts'
import { createWorld } from './world.ts'
import type { Person, World } from './world.ts'

let world: World
/** What everybody has, as it was after their own last change. */
const records = new Map<Person, Json>()

beforeAll(async () => {
  world = await createWorld()
  for (const person of world.people) records.set(person, await world.recordsOf(person))
})
afterAll(() => world?.close())

const ask = (person: Person, { method }: ApiRoute, { path, headers, body }: Asked): Promise<Reply> =>
  world.call(person, method, path, { headers, ...(body === undefined ? {} : { body }) })

/** All that an answer tells, but its own id, the moment, what is left of the limits, and what the caller said. */
const told = (
  { status, headers, body }: Reply,
  { said }: Asked,
): { readonly status: number; readonly headers: unknown; readonly text: string } => {
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name) && !name.startsWith('x-ratelimit-'))
  let text = typeof body === 'string' ? body : JSON.stringify(body)
  // The longest first, because one may hold another.
  const words = [headers.get('X-Request-ID') ?? '', ...said].filter((word) => word !== '').toSorted((a, b) => b.length - a.length)
  for (const own of words) {
    text = text.replaceAll(own, '…').replaceAll(JSON.stringify(own).slice(1, -1), '…')
  }
  return { status, headers: kept, text }
}

const isSafe = async (route: ApiRoute, { asker, asked, twin }: { asker: string; asked: Asked; twin: Asked | undefined }): Promise<void> => {
  const person = world.people.find(({ user }) => user === asker) as Person
  const others = world.people.filter((one) => one !== person)
  const asksBefore = others.map(world.askedFor)
  const reply = await ask(person, route, asked)
  const answer = told(reply, asked)
  expect([500, 503, 504]).not.toContain(answer.status)
  for (const mark of others.flatMap(({ marks }) => marks)) expect(JSON.stringify(answer)).not.toContain(mark)
  if (twin !== undefined) expect(answer).toEqual(told(await ask(person, route, twin), twin))
  expect(others.map(world.askedFor)).toEqual(asksBefore)
  if (route.method === 'GET') return
  for (const other of others) expect(await world.recordsOf(other), `the records of ${other.user}`).toEqual(records.get(other))
  if (reply.status < 400) records.set(person, await world.recordsOf(person))
}

describe('the test', () => {
  it.each(apiRoutes)('knows what is an id in $method $path, and a body that it takes', (route) => {
    slotsOf(route)
    if (route.body === undefined) return
    const { body } = route
    fc.assert(fc.property(ownBodiesOf(route, world.people[0] as Person), (own) => body.validate(own, [])._tag === 'Right'))
  })

  it('knows ids of every kind that are good, and tickets that are one person’s alone', async () => {
    for (const person of world.people) {
      const { account, orders, webhooks, tickets, cursors } = person
      const paths = [
        `/accounts/${account}`,
        ...orders.map((id) => `/orders/${id}`),
        ...webhooks.map((id) => `/webhooks/${id}`),
        ...cursors.map((cursor) => `/trades?cursor=${cursor}&limit=3`),
      ]
      for (const path of paths) expect((await world.call(person, 'GET', path)).status, path).toBe(200)
      const found = { positions: 0, trades: 0, alone: 0 }
      for (const ticket of tickets) {
        const id = `${account}:${ticket}`
        found.positions += Number((await world.call(person, 'GET', `/positions/${id}`)).status === 200)
        found.trades += Number((await world.call(person, 'GET', `/trades/${id}`)).status === 200)
        found.alone += Number(!world.people.some((other) => other !== person && other.tickets.includes(ticket)))
      }
      expect(found).toEqual({ positions: 10, trades: 25, alone: expect.any(Number) })
      expect(found.alone).toBeGreaterThan(0)
    }
  })
})

describe('a caller', () => {
  it.each(apiRoutes)('learns nothing of another’s by $method $path, and changes nothing of it', async (route) => {
    const numRuns = slotsOf(route).length === 0 ? 4 : 20
    await fc.assert(
      fc.asyncProperty(casesOf(route, world.people), (one) => isSafe(route, one)),
      { numRuns },
    )
  })

  it('still finds the own records alone, and positions as the broker holds them', async () => {
    world.later()
    for (const person of world.people) {
      const { user, account } = person
      expect((await world.dataOf(person, '/accounts')).map(({ id, name }: Json) => [id, name])).toEqual([[account, `Account of ${user}`]])
      const { orders, atBroker } = await world.recordsOf(person)
      const [held] = atBroker
      const positions = await world.dataOf(person, '/positions?limit=100')
      const shown = positions.map(({ brokerPositionId: ticket, volume, stopLoss, takeProfit }: Json) => ({
        ticket,
        volume,
        stopLoss,
        takeProfit,
      }))
      expect(shown).toEqual(expect.arrayContaining(held))
      expect(shown).toHaveLength(held.length)
      const trades = await world.dataOf(person, '/trades?limit=100')
      const owners = [...orders, ...positions, ...trades].map((record: Json) => [record.userId, record.accountId])
      expect(new Set(owners.map(String))).toEqual(new Set([`${user},${account}`]))
    }
  })
})
