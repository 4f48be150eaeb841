// What the compiler knows of the methods.
import { describe, expectTypeOf, it } from 'vitest'
import type {
  Account,
  Client,
  ClosePositionResult,
  EventBody,
  Order,
  Position,
  TradeportError,
  WebhookEvent,
} from '../src/index.ts'

type Resolved<M extends (...args: never[]) => Promise<unknown>> = Awaited<ReturnType<M>>

describe('the types', () => {
  it('are those of the contract', () => {
    expectTypeOf<Resolved<Client['listAccounts']>['data']>().toEqualTypeOf<readonly Account[]>()
    expectTypeOf<Resolved<Client['placeOrder']>['data']>().toEqualTypeOf<Order>()
    expectTypeOf<ClosePositionResult['closePrice']>().toEqualTypeOf<number | null>()
    expectTypeOf<Position['stopLoss']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<'pending'>().toExtend<Order['status']>()
    expectTypeOf<string>().not.toExtend<Order['status']>()
    expectTypeOf<Resolved<Client['listTrades']>['meta']['pagination']['cursor']>().toEqualTypeOf<
      string | undefined
    >()
    expectTypeOf<Resolved<Client['getQuote']>['data']['bid']>().toEqualTypeOf<number>()
  })

  it('accept the arguments of the contract', () => {
    expectTypeOf<Client['closePosition']>().toBeCallableWith('id', { volume: 0.1 })
    expectTypeOf<Client['closePosition']>().toBeCallableWith('id')
    expectTypeOf<NonNullable<Parameters<Client['listOrders']['each']>[0]>>().not.toHaveProperty(
      'page',
    )
  })

  it('return items of a list', () => {
    expectTypeOf<ReturnType<Client['listPositions']['each']>>().toEqualTypeOf<
      AsyncIterable<Position>
    >()
  })

  it('discriminate errors by code, with the details of each', () => {
    type WithCode<Code extends TradeportError['code']> = Extract<TradeportError, { code: Code }>
    expectTypeOf<WithCode<'INVALID_PRICE'>['details']>().toEqualTypeOf<{
      readonly currentPrice?: number
      readonly price?: number
    }>()
    expectTypeOf<WithCode<'TIMED_OUT'>['outcome']>().toEqualTypeOf<'not_done' | 'unknown'>()
    expectTypeOf<string>().not.toExtend<TradeportError['code']>()
  })

  it('discriminate events by name', () => {
    type Named<Name extends WebhookEvent['event']> = Extract<WebhookEvent, { event: Name }>
    expectTypeOf<Named<'order.filled'>['data']['order_id']>().toEqualTypeOf<string>()
    expectTypeOf<EventBody<'webhook.test'>['data']['message']>().toEqualTypeOf<string>()
    expectTypeOf<Named<'unknown'>['name']>().toEqualTypeOf<string>()
  })
})
