// A provider as a program: `node provider.ts <options as JSON>`, with the accounts `account-0`,
// `account-1` and so on. It answers each message with the number of requests that there have been:
// `count`, `delay 5` for each page of deals, in milliseconds, and `buy account-0`, as at a
// terminal.
import { startSandbox } from '@tradeport/sandbox-broker'

export interface ProviderOptions {
  readonly accounts: number
  /** The history of each account; none when left out. */
  readonly deals?: number
  /** How late it answers. */
  readonly delayMs?: number
}

/** Of closed positions one after the other, with every field that a provider sends. */
const dealOf = (index: number) => {
  const isOpening = index % 2 === 0
  const positionId = String(46_000_000 + (index >> 1))
  const time = new Date(Date.UTC(2025, 0, 1) + index * 60_000).toISOString()
  return {
    id: String(33_000_000 + index),
    platform: 'mt5' as const,
    type: isOpening ? 'DEAL_TYPE_BUY' : 'DEAL_TYPE_SELL',
    time,
    brokerTime: time.replace('T', ' ').replace('Z', ''),
    commission: -0.35,
    swap: isOpening ? 0 : -0.12,
    profit: isOpening ? 0 : ((index % 400) - 190) / 10,
    symbol: index % 3 === 0 ? 'EURUSD' : 'XAUUSD',
    magic: 1_000,
    orderId: String(47_000_000 + index),
    positionId,
    volume: 0.12,
    price: (105_000 + (index % 997)) / 100_000,
    entryType: isOpening ? 'DEAL_ENTRY_IN' : 'DEAL_ENTRY_OUT',
    reason: 'DEAL_REASON_EXPERT',
    clientId: `TE_EURUSD_${positionId}`,
    accountCurrencyExchangeRate: 1,
  }
}

const { accounts, deals, delayMs = 0 }: ProviderOptions = JSON.parse(process.argv[2] ?? '')
const history = deals !== undefined && {
  platform: 'mt5' as const,
  marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING' as const,
  currency: 'USD',
  deals: Array.from({ length: deals }, (_, index) => dealOf(index)),
}
const sandbox = await startSandbox({
  tokens: ['harness-provider-token'],
  accounts: Array.from({ length: accounts }, (_, index) => ({
    id: `account-${index}`,
    ...(history && { history }),
  })),
})
if (delayMs > 0) sandbox.faults.set('*', 'any', { kind: 'delay', ms: delayMs })
process.on('message', (message: string) => {
  const [verb, value = ''] = message.split(' ')
  if (verb === 'delay') sandbox.faults.set('*', 'deals', { kind: 'delay', ms: Number(value) })
  if (verb === 'buy')
    sandbox
      .account(value)
      .trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.01 }, 'CLIENT')
  process.send?.(sandbox.requests.count())
})
process.once('SIGTERM', () => process.exit(0))
process.stdout.write(`url ${sandbox.url}\n`)
