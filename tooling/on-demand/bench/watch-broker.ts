// A provider with many accounts as a program. A message with an account makes a deal there, as at a
// terminal; the answer is how many requests there have been.
import { startSandbox } from '@tradeport/sandbox-broker'

const [token = '', count = '0', delay = '0'] = process.argv.slice(2)
const sandbox = await startSandbox({
  tokens: [token],
  accounts: Array.from({ length: Number(count) }, (_, index) => ({ id: `watched-${index}` })),
})
sandbox.faults.set('*', 'any', { kind: 'delay', ms: Number(delay) })
process.on('message', (account: string | null) => {
  if (account !== null)
    sandbox
      .account(account)
      .trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.01 }, 'CLIENT')
  process.send?.(sandbox.requests.count())
})
process.once('SIGTERM', () => process.exit(0))
process.stdout.write(`url ${sandbox.url}\n`)
