// @tradeport/client against a started service: what it does about answers that are lost. That each
// method sends what the API's document says is tested in tooling/contract.
import { createClient, isTradeportError, type Client } from '@tradeport/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { keyOf, linkDesk, type LinkedDesk } from './support/desk.ts'
import { hearReply, useTestService } from './support/service.ts'

const service = useTestService([], { environment: { CAPABILITIES: 'events,console' } })
let desk: LinkedDesk
/** How many of the next answers are lost on their way, after the service gave them. */
let answersToLose = 0

const fetchThrough: typeof fetch = async (input, init = {}) => {
  const { url, method } = new Request(input, init)
  const response = await fetch(input, init)
  const { status, headers } = response
  hearReply({
    method,
    url,
    sent: typeof init.body === 'string' ? init.body : undefined,
    status,
    headers: [...headers],
    text: await response.clone().text(),
  })
  if (answersToLose === 0) return response
  answersToLose -= 1
  throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') })
}

let client: Client

beforeAll(async () => {
  desk = await linkDesk(service)
  const baseUrl = `${service.apiUrl}/api/v1`
  client = createClient({ baseUrl, apiKey: keyOf('u-1'), fetch: fetchThrough })
})

const failure = async (promise: Promise<unknown>) => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isTradeportError(error)) throw new Error(`not a TradeportError: ${String(error)}`)
  return error
}
const order = () =>
  ({
    accountId: desk.accountId,
    symbol: 'EURUSD',
    type: 'buy',
    orderType: 'market',
    volume: 0.1,
  }) as const
describe('the client', () => {
  it('places an order and closes its position once although the answers are lost', async () => {
    answersToLose = 1
    const { data, headers, settled } = await client.placeOrder(order())
    expect(headers.get('Idempotent-Replayed')).toBe('true')
    expect(await settled()).toMatchObject({ id: data.id, status: 'filled' })
    expect((await client.listOrders()).data).toMatchObject([{ id: data.id }])
    const id = (await client.getOrder(data.id)).data.positionId ?? ''
    answersToLose = 1
    expect((await client.closePosition(id)).headers.get('Idempotent-Replayed')).toBe('true')
    expect(desk.broker.sends()).toBe(2)
    expect(await failure(client.getPosition(id))).toMatchObject({ code: 'POSITION_NOT_FOUND' })
  })
})
