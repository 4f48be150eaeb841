// The contracts of the ports, over the simulated provider and real sockets.
import { startSandbox, type AccountOptions, type Fault } from '@tradeport/sandbox-broker'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import {
  describeBrokerContract,
  describeMarketDataContract,
  describePositionTradingContract,
  describeTradingContract,
  type VenueTrouble,
} from '@tradeport/testkit/contracts'
import { account, apiWith, executedLots, rowOf, token } from './support.ts'

const readFaults: Readonly<Record<VenueTrouble, Fault>> = {
  unavailable: { kind: 'timeout' },
  rate_limited: { kind: 'rate-limit', retryAfterSeconds: 2 },
  not_provisioned: { kind: 'not-found' },
}

// The first account has a region in its link; provisioning gives that of the others.
const regionOf = (index: number) => (index === 0 ? 'london' : 'singapore')

describeBrokerContract('the adapter over the sandbox', async (accounts) => {
  const sandbox = await startSandbox({
    tokens: [token],
    accounts: accounts.map(
      ({ tradeMode, broker, currency, leverage, positions, deals }, index) => ({
        id: `p-${index}`,
        type: tradeMode,
        broker,
        currency,
        leverage,
        region: regionOf(index),
        positions,
        ...(positions.length === 0 && { history: { deals: deals.map(rowOf) } }),
      }),
    ),
  })
  return {
    broker: apiWith({
      provisioningUrl: sandbox.url,
      clientUrl: `${sandbox.url}/{region}`,
      clock: { now: Date.now },
    }).broker,
    accounts: accounts.map((_, index) => ({
      ...account,
      accountId: `${account.accountId.slice(0, -1)}${index}` as BrokerAccount['accountId'],
      providerAccountId: `p-${index}`,
      region: index === 0 ? regionOf(0) : null,
    })),
    trouble: async ({ providerAccountId }, trouble) =>
      sandbox.faults.set(providerAccountId, 'any', readFaults[trouble]),
    addDeals: async ({ providerAccountId }, deals) =>
      sandbox.account(providerAccountId).addDeals(deals.map(rowOf)),
    withholdMargins: async ({ providerAccountId }) =>
      sandbox.faults.set(providerAccountId, 'margin', { kind: 'no-margin' }),
    close: sandbox.close,
  }
})

describeMarketDataContract('the adapter over the sandbox', async () => {
  const id = account.providerAccountId
  const sandbox = await startSandbox({
    tokens: [token],
    accounts: [{ id, region: 'london', symbols: { 'EURUSD.r': 'EURUSD' } }],
  })
  sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
  return {
    marketData: apiWith({
      clientUrl: `${sandbox.url}/{region}`,
      marketDataUrl: `${sandbox.url}/{region}`,
      clock: { now: Date.now },
    }).marketData,
    account,
    now: Date.now,
    lose: async () => sandbox.faults.set(id, 'any', { kind: 'not-found' }),
    close: sandbox.close,
  }
})

const openVenue = async (options: Omit<AccountOptions, 'id'>) => {
  let ahead = 0
  const now = () => Date.now() + ahead
  const id = account.providerAccountId
  const sandbox = await startSandbox({
    tokens: [token],
    now,
    accounts: [{ id, region: 'london', ...options }],
  })
  const control = sandbox.account(id)
  return {
    sandbox,
    control,
    id,
    api: apiWith({
      clientUrl: `${sandbox.url}/{region}`,
      clock: { now },
      stopwatch: { elapsedMs: now },
      deadlines: { readMs: 5_000, fillMs: 2_000 },
    }),
    shared: {
      account: { ...account, platform: options.platform ?? account.platform },
      now,
      passTime: async (ms: number) => void (ahead += ms),
      close: sandbox.close,
    },
  }
}

const kinds: readonly Omit<AccountOptions, 'id'>[] = [
  {},
  { marginMode: 'netting' },
  { platform: 'mt4' },
  { platform: 'mt4', mt4PartialTicket: 'same' },
]

for (const options of kinds) {
  const name = `the adapter over the sandbox with ${JSON.stringify(options)}`

  describeTradingContract(name, async () => {
    const { api, control, id, sandbox, shared } = await openVenue(options)
    return {
      ...shared,
      trading: api.trading,
      heldOrders: () =>
        control.orders().map(({ id: brokerOrderId, openPrice, stopLoss, takeProfit }) => ({
          brokerOrderId,
          price: Number(openPrice),
          ...(stopLoss !== undefined && { stopLoss: Number(stopLoss) }),
          ...(takeProfit !== undefined && { takeProfit: Number(takeProfit) }),
        })),
      movePrice: async (bid) => sandbox.prices.pin('EURUSD', { bid, ask: bid + 0.0002 }),
      endOrder: async (orderId, how) => {
        const expiresAt = control.orders()[0]?.['expirationTime']
        if (how === 'cancelled') control.trade({ actionType: 'ORDER_CANCEL', orderId })
        else if (typeof expiresAt === 'string')
          await shared.passTime(Date.parse(expiresAt) - shared.now())
      },
      closePosition: async (clientId, volume) => {
        const positionId = control
          .positions()
          .find((position) => position.clientId === clientId)?.id
        const part =
          volume === undefined
            ? { actionType: 'POSITION_CLOSE_ID' }
            : { actionType: 'POSITION_PARTIAL', volume }
        control.trade({ ...part, positionId })
      },
      makeReadable: async (isReadable) => {
        for (const route of ['positions', 'orders', 'history-orders', 'deals'] as const) {
          if (isReadable) sandbox.faults.clear({ account: id, route })
          else sandbox.faults.set(id, route, { kind: 'timeout' })
        }
      },
      executedLots: (clientId) => executedLots(control, clientId),
    }
  })

  describePositionTradingContract(name, async (positions) => {
    const { api, control, id, sandbox, shared } = await openVenue({ ...options, positions })
    return {
      ...shared,
      desk: api.positionTrading,
      restKeepsTicket: options.platform !== 'mt4' || options.mt4PartialTicket === 'same',
      held: () =>
        control.positions().map(({ id: ticket, symbol, type, volume, stopLoss, takeProfit }) => ({
          ticket,
          symbol,
          side: type === 'POSITION_TYPE_BUY' ? 'buy' : 'sell',
          volume,
          ...(stopLoss !== undefined && { stopLoss }),
          ...(takeProfit !== undefined && { takeProfit }),
        })),
      booked: (of) =>
        control
          .deals()
          .flatMap(({ orderId, entryType, volume }) =>
            orderId === of && entryType === 'DEAL_ENTRY_OUT' ? [Number(volume)] : [],
          ),
      sends: () => sandbox.requests.count({ account: id, route: 'trade' }),
      closeElsewhere: async (positionId) =>
        void control.trade({ actionType: 'POSITION_CLOSE_ID', positionId }),
      freezeCopy: async () =>
        sandbox.faults.set(id, 'trade', { kind: 'positions-lag', ms: 3_600_000 }),
      makeUnreadable: async () => sandbox.faults.set(id, 'positions', { kind: 'timeout' }),
      forgetAccount: async () => sandbox.faults.set(id, 'any', { kind: 'not-found' }),
    }
  })
}
