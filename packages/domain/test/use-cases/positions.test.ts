// GET /positions: its filter, and what is kept of a row between two pages that show it.
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { expect, it } from 'vitest'
import { openPosition } from '@tradeport/testkit'
import type { SymbolFilter, Ticket } from '../../src/primitives/index.ts'
import { createPositions } from '../../src/use-cases/positions.ts'
import { createTestDesk, down, owner, rightOf } from './desk.ts'

it('has those of one symbol where that is asked for', async () => {
  const desk = createTestDesk()
  const positions = ['EURUSD', 'GBPUSD'].map((symbol) => openPosition({ symbol }))
  desk.broker.put(desk.link().id, { positions })
  const query = { page: 1, limit: 20, symbol: 'GBPUSD' as SymbolFilter }
  const { data } = await rightOf(createPositions(desk).listPositions({ owner }, { query }))
  expect(data.map(({ symbol }) => symbol)).toEqual(['GBPUSD'])
})

it('has none where an account cannot be read, and names the first that failed', async () => {
  const desk = createTestDesk()
  const [readable, late, early] = [desk.link(), desk.link(), desk.link()]
  desk.broker.put(readable.id, { positions: [openPosition()] })
  for (const { id } of [late, early]) desk.broker.fail(id, down(id))
  const positions: typeof desk.broker.positions = (account) => async () => {
    if (account.accountId === late.id) await setTimeout(10)
    return desk.broker.positions(account)()
  }
  const { listPositions } = createPositions({ ...desk, broker: { ...desk.broker, positions } })
  const all = listPositions({ owner }, { query: { page: 1, limit: 20 } })
  expect(await all()).toEqual(E.left(down(early.id)))
})

it('asks for the margin of a row that is read once, and again where there was none', async () => {
  const desk = createTestDesk()
  const account = desk.link()
  const rows = ['1', '2'].map((ticket, index) =>
    openPosition({ ticket: ticket as Ticket, volume: (index + 1) / 10 }),
  )
  const asked: number[] = []
  desk.broker.put(account.id, {
    positions: rows,
    margin: ({ volume }) => {
      asked.push(volume)
      return asked.length === 1 ? O.none : O.some(7)
    },
  })
  const { listPositions } = createPositions(desk)
  const list = async () => {
    const { data } = await rightOf(listPositions({ owner }, { query: { page: 1, limit: 20 } }))
    return data
  }
  expect((await list()).map(({ marginUsed }) => marginUsed)).toEqual([null, 7])
  const [first, second] = await list()
  expect(asked).toEqual([0.1, 0.2, 0.1])
  const again = await list()
  expect([again[0] === first, again[1] === second, asked.length]).toEqual([true, true, 3])
})
