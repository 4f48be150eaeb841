import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { brokerUnavailable, serviceUnavailable } from '../../src/errors.ts'
import { newAccountId } from '../../src/testing/stored-records.ts'
import { getAccount } from '../../src/use-cases/get-account.ts'
import { listAccounts } from '../../src/use-cases/list-accounts.ts'
import { createLiveAccounts } from '../../src/use-cases/steps/read-live-account.ts'
import { listBalanceHistory } from '../../src/use-cases/list-balance-history.ts'
import { createTestDesk, owner, rightOf, stranger, tagOf } from './desk.ts'

describe('GET /accounts', () => {
  it('shows live figures of connected accounts and writes them down', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    const [view] = await rightOf(listAccounts(desk)({ owner }))
    expect(view).toMatchObject({ liveDataUpdatedAt: 1_000_000, account: { id: account.id, figures: { leverage: 100 } } })
    expect(O.toNullable(await rightOf(desk.accounts.find(owner, account.id)))).toMatchObject({ lastReadAt: 1_000_000 })
    expect(await rightOf(listBalanceHistory(desk)({ owner }, account.id, {}))).toHaveLength(1)
  })

  it('keeps an account that cannot be read in the list, with its stored figures and status error (3.2)', async () => {
    const desk = createTestDesk()
    const [good, bad] = [
      desk.link(),
      desk.link({ figures: { balance: 7, equity: 7, margin: 0, freeMargin: null, marginLevel: null, leverage: null } }),
    ]
    desk.broker.fail(bad.id, brokerUnavailable(bad.id, 'down'))
    const views = await rightOf(listAccounts(desk)({ owner }))
    expect(views.map(({ account }) => [account.id, account.status])).toEqual([
      [good.id, 'connected'],
      [bad.id, 'error'],
    ])
    expect(views[1]).toMatchObject({ liveDataUpdatedAt: null, account: { figures: { balance: 7 } } })
  })

  it('says that the service cannot write, and not that an account is in error, where what was read cannot be written down', async () => {
    const desk = createTestDesk()
    desk.link()
    const stuck = { recordReading: () => TE.left(serviceUnavailable('the disk is full')), recordFailedRead: desk.accounts.recordFailedRead }
    const liveAccounts = createLiveAccounts({ ...desk, accounts: stuck })
    expect(await tagOf(listAccounts({ ...desk, liveAccounts })({ owner }))).toBe('ServiceUnavailable')
  })

  it('turns an account in error into connected when a later read is good (decision 17)', async () => {
    const desk = createTestDesk()
    const account = desk.link({ status: 'error' })
    await rightOf(listAccounts(desk)({ owner }))
    expect(O.toNullable(await rightOf(desk.accounts.find(owner, account.id)))?.status).toBe('connected')
  })

  it.each(['disconnected', 'syncing'] as const)('does not read an account that is %s', async (status) => {
    const desk = createTestDesk()
    desk.link({ status })
    expect(await rightOf(listAccounts(desk)({ owner }))).toMatchObject([{ liveDataUpdatedAt: null, account: { status } }])
    expect(desk.broker.calls()).toBe(0)
  })

  it('is empty for a user with none, whatever others have', async () => {
    const desk = createTestDesk()
    desk.link()
    expect(await rightOf(listAccounts(desk)({ owner: stranger }))).toEqual([])
  })
})

describe('GET /accounts/:id', () => {
  it('is 404 for an account of another user as for one that never was', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    expect(await tagOf(getAccount(desk)({ owner: stranger }, account.id))).toBe('AccountNotFound')
    expect(await tagOf(getAccount(desk)({ owner }, newAccountId()))).toBe('AccountNotFound')
  })

  it('is 503 while disconnected, without asking the broker', async () => {
    const desk = createTestDesk()
    const account = desk.link({ status: 'disconnected' })
    expect(await tagOf(getAccount(desk)({ owner }, account.id))).toBe('AccountDisconnected')
    expect(desk.broker.calls()).toBe(0)
  })

  it('is 503 at once when the read fails, and recovers with the next good one (decision 17)', async () => {
    const desk = createTestDesk()
    const account = desk.link()
    desk.broker.fail(account.id, brokerUnavailable(account.id, 'down'))
    expect(await tagOf(getAccount(desk)({ owner }, account.id))).toBe('AccountDisconnected')
    expect(O.toNullable(await rightOf(desk.accounts.find(owner, account.id)))?.status).toBe('error')
    desk.broker.heal(account.id)
    expect(await rightOf(getAccount(desk)({ owner }, account.id))).toMatchObject({
      account: { status: 'connected' },
      liveDataUpdatedAt: 1_000_000,
    })
  })

  it('shows the paper book with its stored figures', async () => {
    const desk = createTestDesk()
    const account = desk.link({ brokerType: 'paper', provider: null })
    expect(await rightOf(getAccount(desk)({ owner }, account.id))).toMatchObject({ liveDataUpdatedAt: null })
  })
})
