// A provider with accounts of 20,000 deals each, as a process of its own.
import type { ChildProcess } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { providerToken, repositoryRoot } from './measured-service.ts'
import { startProgram } from './processes.ts'

export const historyDeals = 20_000

/** Starts it with these accounts, each with the same history, and gives its address. */
export const startHistoryProvider = async (
  folder: string,
  accounts: readonly string[],
  children: ChildProcess[],
): Promise<string> => {
  const file = join(folder, 'history.json')
  await writeFile(
    file,
    JSON.stringify({
      platform: 'mt5',
      marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
      currency: 'USD',
      deals: makeDeals(),
    }),
  )
  const named = accounts.flatMap((account) => ['--account', account, '--history', file])
  const program = join(repositoryRoot, 'packages/sandbox-broker/dist/bin.js')
  const { line } = await startProgram(
    [program, '--port', '0', '--token', providerToken, ...named],
    {},
    /^url\s+(\S+)/m,
    children,
  )
  return line
}

/** The platform's id of the account of that number. */
export const accountUuid = (index: number): string =>
  `be9c4000-0000-4000-8000-${String(index).padStart(12, '0')}`

// Closed positions one after the other, as a provider lists them, with every field that it sends.
const makeDeals = (): readonly object[] =>
  Array.from({ length: historyDeals }, (_, index) => {
    const isOpening = index % 2 === 0
    const position = String(46_000_000 + (index >> 1))
    const time = new Date(Date.UTC(2025, 0, 1) + index * 60_000).toISOString()
    return {
      id: String(33_000_000 + index),
      platform: 'mt5',
      type: isOpening ? 'DEAL_TYPE_BUY' : 'DEAL_TYPE_SELL',
      time,
      brokerTime: time.replace('T', ' ').replace('Z', ''),
      commission: -0.35,
      swap: isOpening ? 0 : -0.12,
      profit: isOpening ? 0 : ((index % 400) - 190) / 10,
      symbol: index % 3 === 0 ? 'EURUSD' : 'XAUUSD',
      magic: 1_000,
      orderId: String(47_000_000 + index),
      positionId: position,
      volume: 0.12,
      price: 1.05 + (index % 997) / 100_000,
      entryType: isOpening ? 'DEAL_ENTRY_IN' : 'DEAL_ENTRY_OUT',
      reason: 'DEAL_REASON_EXPERT',
      clientId: `TE_EURUSD_${position}`,
      accountCurrencyExchangeRate: 1,
    }
  })
