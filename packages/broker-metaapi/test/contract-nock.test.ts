// The broker contract over payloads in the provider's shape.
import nock from 'nock'
import { describeBrokerContract } from '@tradeport/domain/testing'
import type { VenueBook, VenueTrouble } from '@tradeport/domain/testing'
import type { BrokerAccount, BrokerDeal } from '@tradeport/domain'
import { closeNetwork } from './no-network.ts'
import { account, brokerWith, clientHost, informationRow, positionRow, rowOf } from './support.ts'

closeNetwork()

type Answer = [status: number, body: object]

const troubles: Readonly<Record<VenueTrouble, Answer>> = {
  unavailable: [504, { error: 'TimeoutError', message: 'not connected to broker yet', metadata: {} }],
  rate_limited: [429, { error: 'TooManyRequestsError', metadata: { recommendedRetryTime: '2026-05-01T12:00:03.400Z' } }],
  not_provisioned: [404, { error: 'NotFoundError', message: 'trading account not found' }],
}

/** What the provider answers to the path behind the account. */
const answerOf = (book: VenueBook, url: URL, body: unknown): Answer => {
  const route = url.pathname.split('/')[5]
  if (route === 'account-information') return [200, informationOf(book)]
  if (route === 'positions') return [200, positionsOf(book)]
  if (route === 'history-deals') {
    const [offset, limit] = [Number(url.searchParams.get('offset')), Number(url.searchParams.get('limit'))]
    const [from = 0, to = 0] = url.pathname
      .split('/')
      .slice(7)
      .map((text) => Date.parse(decodeURIComponent(text)))
    const isInside = ({ time = from }: BrokerDeal) => Number.isNaN(time) || (time >= from && time < to)
    const deals = book.deals.filter(isInside).toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0))
    return [200, deals.slice(offset, offset + limit).map(rowOf)]
  }
  const { volume, openPrice } = body as { readonly volume: number; readonly openPrice: number }
  return [200, { margin: volume * openPrice * 1_000 }]
}

const informationOf = ({ tradeMode, broker, currency, leverage }: VenueBook) => {
  const { marginLevel: _left, ...rest } = informationRow
  return { ...rest, type: `ACCOUNT_TRADE_MODE_${tradeMode.toUpperCase()}`, broker, currency, leverage, margin: 0 }
}

// The youngest first, since the order of a provider is nothing to rely on.
const positionsOf = ({ positions }: VenueBook) =>
  positions
    .map(({ symbol, side, volume, stopLoss, takeProfit }, index) => {
      const { stopLoss: _left, ...row } = positionRow
      const type = side === 'buy' ? 'POSITION_TYPE_BUY' : 'POSITION_TYPE_SELL'
      const nothingRealized = { realizedProfit: 0, realizedCommission: 0, realizedSwap: 0 }
      return { ...row, ...nothingRealized, id: String(index + 1), type, symbol, volume, stopLoss, takeProfit }
    })
    .toReversed()

describeBrokerContract('the adapter over nock', async (books) => {
  const accounts = books.map((_, index): BrokerAccount => ({
    ...account,
    accountId: `${account.accountId.slice(0, -1)}${index}` as never,
    providerAccountId: `p-${index}`,
  }))
  const troubled = new Map<string, VenueTrouble>()
  const added = new Map<string, readonly BrokerDeal[]>()
  const withheld = new Set<string>()
  const answer = async (request: Request): Promise<Answer> => {
    const url = new URL(request.url)
    const id = url.pathname.split('/')[4] ?? ''
    const book = books[Number(id.slice(2))]
    const trouble = troubled.get(id)
    if (!book || trouble) return troubles[trouble ?? 'not_provisioned']
    if (withheld.has(id) && request.method === 'POST') return [200, {}]
    return answerOf(
      { ...book, deals: [...book.deals, ...(added.get(id) ?? [])] },
      url,
      request.method === 'POST' ? await request.json() : undefined,
    )
  }
  nock(clientHost).persist().get(/.*/).reply(answer).post(/.*/).reply(answer)
  return {
    broker: brokerWith(),
    accounts,
    trouble: async ({ providerAccountId }, trouble) => void troubled.set(providerAccountId, trouble),
    addDeals: async ({ providerAccountId }, deals) => void added.set(providerAccountId, deals),
    withholdMargins: async ({ providerAccountId }) => void withheld.add(providerAccountId),
    close: async () => nock.cleanAll(),
  }
})
