// The margin of a position, computed by the provider (specification 2.4; decision 27).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { closeNetwork } from './no-network.ts'
import { account, accountPath, brokerWith, provider, reasonOf } from './support.ts'

closeNetwork()

const query = { symbol: 'EURUSD#/r', side: 'sell', volume: 0.1, openPrice: 1.1 } as const

const askWith = async (status: number, answer: unknown) => {
  provider()
    .post(`${accountPath}/calculate-margin`, { symbol: 'EURUSD#/r', type: 'ORDER_TYPE_SELL', volume: 0.1, openPrice: 1.1 })
    .reply(status, JSON.stringify(answer), { 'content-type': 'application/json' })
  return brokerWith().requiredMargin(account, query)()
}

describe('the required margin', () => {
  it('is what the provider computes', async () => {
    expect(await askWith(200, { margin: 110 })).toEqual(E.right(O.some(110)))
    expect(await askWith(200, { margin: 0 })).toEqual(E.right(O.some(0)))
  })

  it('is none where the provider computes none', async () => {
    expect(await askWith(200, {})).toEqual(E.right(O.none))
    expect(await askWith(200, { margin: null })).toEqual(E.right(O.none))
  })

  it('is a failure where the answer is no margin', async () => {
    expect(reasonOf(await askWith(200, { margin: '110' }))).toBe('calculate-margin: margin is not a finite number or nothing')
    expect(reasonOf(await askWith(200, []))).toContain('calculate-margin: ')
  })

  it('does not take an unknown symbol for an unknown account', async () => {
    expect(reasonOf(await askWith(404, { error: 'NotFoundError', message: 'symbol not found' }))).toBe(
      'calculate-margin: answered 404 NotFoundError',
    )
  })
})
