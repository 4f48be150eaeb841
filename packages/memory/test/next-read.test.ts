// Reads that begin after they are asked for: how many there are, and what each caller gets.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { someOwner, newAccountId } from '@tradeport/testkit'
import { afterEach, expect, it, vi } from 'vitest'
import { coalesceReads } from '../src/index.ts'
import { ended } from './clock.ts'

const account: BrokerAccount = {
  accountId: newAccountId(),
  owner: someOwner,
  platform: 'mt5',
  providerAccountId: 'provider-1',
  region: null,
}
const others = [
  { ...account, providerAccountId: 'provider-2' },
  { ...account, accountId: newAccountId() },
  { ...account, owner: { ...account.owner, tenantId: 'other' as never } },
]

const setUp = () => {
  const begun: PromiseWithResolvers<number>[] = []
  const read = coalesceReads(() => () => {
    begun.push(Promise.withResolvers())
    return begun.at(-1)!.promise
  })
  return { begun, ask: (of = account) => read(of)() }
}

afterEach(() => void vi.useRealTimers())

it('those that are asked for during a read of the account share the one that begins after it', async () => {
  const { begun, ask } = setUp()
  const first = ask()
  const shared = [ask(), ask(), ask()]
  for (const other of others) void ask(other)
  expect(begun).toHaveLength(4)
  begun[0]!.resolve(1)
  expect(await first).toBe(1)
  await ended()
  expect(begun).toHaveLength(5)
  const last = ask()
  begun[4]!.resolve(2)
  expect(await Promise.all(shared)).toEqual([2, 2, 2])
  await ended()
  begun[5]!.resolve(3)
  expect(await last).toBe(3)
  void ask()
  expect(begun).toHaveLength(7)
})

it('one that fails or hangs holds the next up for a second at most', async () => {
  vi.useFakeTimers()
  const { begun, ask } = setUp()
  const failing = ask()
  const hanging = ask()
  begun[0]!.reject(new Error('down'))
  await expect(failing).rejects.toThrow('down')
  await vi.advanceTimersByTimeAsync(0)
  const next = ask()
  await vi.advanceTimersByTimeAsync(999)
  expect(begun).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(1)
  begun[2]!.resolve(3)
  expect(await next).toBe(3)
  begun[1]!.resolve(2)
  expect(await hanging).toBe(2)
})
