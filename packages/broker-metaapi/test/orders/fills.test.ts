// How a fill is described that the broker has told of, while its lists fill up (decision 22): nothing is told of it that is not settled.
import { beforeEach, describe, expect, it } from 'vitest'
import { closeNetwork } from '../no-network.ts'
import { accountPath, dealRow, now, positionRow, provider } from '../support.ts'
import { clientId, place, tradePath, tradingWith } from './order-support.ts'

closeNetwork()

const deal = (id: string, volume: number, price = 1.1) => ({
  ...dealRow,
  id,
  time: new Date(now).toISOString(),
  volume,
  price,
  positionId: '501',
  orderId: '501',
  clientId,
})
const held = (volume: number) => ({
  ...positionRow,
  id: '501',
  symbol: 'EURUSD',
  time: new Date(now).toISOString(),
  openPrice: 1.1,
  volume,
  clientId,
})

let reads = 0
beforeEach(() => void (reads = 0))

/** The lists as they are read one time after another; the last stays. */
const fillUp = (
  code: number,
  tickets: object,
  ...states: readonly { readonly deals: readonly object[]; readonly positions?: readonly object[] }[]
) => {
  const at = (index: number) => states[Math.min(index, states.length - 1)]
  let held = 0
  provider()
    .post(tradePath)
    .reply(200, { numericCode: code, ...tickets })
  provider()
    .get((uri) => uri.startsWith(`${accountPath}/history-deals/time/`))
    .reply(200, () => JSON.stringify(at(reads++)?.deals))
    .persist()
  provider()
    .get(`${accountPath}/positions`)
    .reply(200, () => JSON.stringify(at(held++)?.positions ?? []))
    .persist()
  return place(tradingWith({ deadlines: { fillMs: 1_400 } }))
}

const tickets = { orderId: '501', positionId: '501' }
const half = { price: 1.1, volume: 0.05, at: now, positionId: '501' }

describe('a part', () => {
  it('is told once its deals and its position agree', async () => {
    const filling = fillUp(
      10_010,
      tickets,
      { deals: [deal('1', 0.03)] },
      { deals: [deal('1', 0.03), deal('2', 0.02)], positions: [held(0.05)] },
    )
    expect(await filling).toEqual({ kind: 'partially_filled', fill: half })
    expect(reads).toBe(2)
  })

  it('is told once its deals have stayed the same', async () => {
    const filling = fillUp(10_010, tickets, { deals: [deal('1', 0.03)] }, { deals: [deal('1', 0.03), deal('2', 0.02)] })
    expect(await filling).toEqual({ kind: 'partially_filled', fill: half })
    expect(reads).toBe(3)
  })

  it('has no volume where no deal tells it', async () => {
    expect(await fillUp(10_010, tickets, { deals: [], positions: [held(0.05)] })).toEqual({
      kind: 'partially_filled',
      fill: { positionId: '501' },
    })
  })
})

describe('a whole', () => {
  it('is told once its deals make it up', async () => {
    const filling = fillUp(
      10_009,
      tickets,
      { deals: [] },
      { deals: [deal('1', 0.06, 1.1)] },
      { deals: [deal('1', 0.06, 1.1), deal('2', 0.04, 1.2)] },
    )
    expect(await filling).toEqual({ kind: 'filled', fill: { price: 1.14, volume: 0.1, at: now, positionId: '501' } })
    expect(reads).toBe(3)
  })

  it('stays whole where the deals never make it up, and has no volume then', async () => {
    expect(await fillUp(10_009, tickets, { deals: [deal('1', 0.06)] })).toEqual({ kind: 'filled', fill: { positionId: '501' } })
  })

  it('is told by deals that lost its name, under the number that the answer gave', async () => {
    const { clientId: _lost, ...nameless } = deal('1', 0.1)
    expect(await fillUp(10_009, { orderId: 501 }, { deals: [nameless] })).toMatchObject({
      kind: 'filled',
      fill: { volume: 0.1, positionId: '501' },
    })
  })

  it('is known by nothing where the broker tells nothing', async () => {
    expect(await fillUp(10_009, {}, { deals: [] })).toEqual({ kind: 'filled', fill: {} })
    expect(await fillUp(10_009, { positionId: 'not a ticket\n' }, { deals: [] })).toEqual({ kind: 'filled', fill: {} })
  })
})
