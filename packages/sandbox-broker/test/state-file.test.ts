// What a second start restores.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startSandbox, type AccountOptions, type SandboxOptions } from '../src/index.ts'
import { NOON } from './harness.ts'

const BUY = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1, stopLoss: 0.5 }
const accounts: readonly AccountOptions[] = [
  { id: 'hedging', generate: { trades: 30, openPositions: 3 } },
  { id: 'mt4', platform: 'mt4' },
  {
    id: 'loaded',
    history: {
      deals: [
        { id: '1', type: 'DEAL_TYPE_BALANCE', profit: 100_000, time: '2026-01-01T00:00:00.000Z' },
      ],
    },
  },
]

const folder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'sandbox-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

const start = (stateFile: string, now: number, options: SandboxOptions = {}) =>
  startSandbox({ accounts, stateFile, now: () => now, ...options })
type Started = Awaited<ReturnType<typeof start>>

const everything = (sandbox: Started) =>
  sandbox.accountIds().map((id) => {
    const account = sandbox.account(id)
    return {
      information: account.information(),
      positions: account.positions(),
      pending: account.orders(),
      deals: account.deals(),
      orders: account.historyOrders(),
    }
  })

it('a second start restores trades, levels, pending orders, money, prices and markets', async () => {
  const stateFile = join(await folder(), 'deep', 'state.json')
  const first = await start(stateFile, NOON)
  first.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
  for (const id of first.accountIds()) {
    const account = first.account(id)
    const { positionId } = account.trade(BUY)
    account.trade({ actionType: 'POSITION_PARTIAL', positionId, volume: 0.04 })
    account.deposit(12.34)
    account.trade({ ...BUY, actionType: 'ORDER_TYPE_BUY_LIMIT', openPrice: 0.9 })
  }
  first.market.close('US30')
  const left = everything(first)
  await first.close()

  const second = await start(stateFile, NOON)
  expect(everything(second)).toEqual(left)
  expect(second.prices.quote('EURUSD')).toEqual({ bid: 1.1, ask: 1.1002 })
  expect(second.account('hedging').trade({ ...BUY, symbol: 'US30' }).numericCode).toBe(10018)
  // Tickets go on where they stopped.
  const { orderId } = second.account('loaded').trade(BUY)
  expect(left[2]?.orders.map((order) => order.id)).not.toContain(orderId)
  await second.close()
})

it('a file of another seed, of other options or of another kind is refused', async () => {
  const stateFile = join(await folder(), 'state.json')
  await (await start(stateFile, NOON)).close()
  await expect(start(stateFile, NOON, { seed: 2 })).rejects.toThrow('was made with seed 1, not 2')
  await expect(
    start(stateFile, NOON, {
      accounts: [{ id: 'hedging', generate: { trades: 31, openPositions: 3 } }],
    }),
  ).rejects.toThrow('holds account hedging made from other options')
  await (
    await start(stateFile, NOON, {
      accounts: accounts.map((account) => ({ ...account, name: 'Renamed' })),
    })
  ).close()
  await writeFile(stateFile, '{"version":')
  await expect(start(stateFile, NOON)).rejects.toThrow('is not the state of a sandbox')
})
