import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import { newAccountId } from '@tradeport/testkit'
import { createAccounts, createLiveAccounts } from '../../src/use-cases/accounts.ts'
import { createTestDesk, down, owner, rightOf, stranger, tagOf, unavailable } from './desk.ts'

const opened = (fields: Partial<Account> = {}) => {
  const desk = createTestDesk()
  const account = desk.link(fields)
  const { listAccounts, getAccount, listBalanceHistory } = createAccounts(desk)
  return {
    desk,
    account,
    list: (by = owner) => listAccounts({ owner: by }),
    get: (id = account.id, by = owner) => getAccount({ owner: by }, id),
    history: () => listBalanceHistory({ owner }, account.id, {}),
    stored: async () => O.toNullable(await rightOf(desk.accounts.find(owner, account.id))),
  }
}

const [live, stored] = [{ liveDataUpdatedAt: 1_000_000 }, { liveDataUpdatedAt: null }]
const disconnected = 'AccountDisconnected'

describe('GET /accounts and /accounts/:id', () => {
  it.each<
    [
      what: string,
      fields: Partial<Account>,
      isDown: boolean,
      listed: object,
      alone: object | string,
      status: string,
    ]
  >([
    ['connected', {}, false, live, live, 'connected'],
    ['connected, and cannot be read', {}, true, stored, disconnected, 'error'],
    ['in error, and can be read again', { status: 'error' }, false, live, live, 'connected'],
    ['disconnected', { status: 'disconnected' }, false, stored, disconnected, 'disconnected'],
    ['syncing', { status: 'syncing' }, false, stored, stored, 'syncing'],
    [
      'a paper account',
      { brokerType: 'paper', provider: null },
      false,
      stored,
      stored,
      'connected',
    ],
  ])('show an account that is %s', async (_, fields, isDown, listed, alone, status) => {
    const one = opened(fields)
    const { desk, account } = one
    if (isDown) desk.broker.fail(account.id, down(account.id))
    expect(await rightOf(one.list())).toMatchObject([
      { ...listed, account: { id: account.id, status } },
    ])
    if (typeof alone === 'string') expect(await tagOf(one.get())).toBe(alone)
    else
      expect(await rightOf(one.get())).toMatchObject({
        ...alone,
        account: { id: account.id, status },
      })
    expect(await one.stored()).toMatchObject({
      status,
      lastReadAt: listed === live ? 1_000_000 : null,
    })
    expect(await rightOf(one.history())).toHaveLength(listed === live ? 1 : 0)
    expect(desk.broker.calls() > 0).toBe(listed === live || isDown)
  })

  it('show the stored figures of an account that cannot be read next to one that can', async () => {
    const { desk, account, list } = opened()
    const figures = {
      balance: 7,
      equity: 7,
      margin: 0,
      freeMargin: null,
      marginLevel: null,
      leverage: null,
    }
    const bad = desk.link({ figures })
    desk.broker.fail(bad.id, down(bad.id))
    expect(await rightOf(list())).toMatchObject([
      { ...live, account: { id: account.id } },
      { ...stored, account: { id: bad.id, figures } },
    ])
  })

  it('fail, and do not call an account disconnected, where a reading cannot be stored', async () => {
    const { desk, account } = opened()
    const liveAccounts = createLiveAccounts({
      ...desk,
      accounts: { ...desk.accounts, recordReading: unavailable },
    })
    const { listAccounts, getAccount } = createAccounts({ ...desk, liveAccounts })
    for (const read of [listAccounts({ owner }), getAccount({ owner }, account.id)])
      expect(await tagOf(read)).toBe('ServiceUnavailable')
  })

  it('show the caller’s accounts alone', async () => {
    const { account, list, get } = opened()
    expect(await rightOf(list(stranger))).toEqual([])
    expect(await tagOf(get(account.id, stranger))).toBe('AccountNotFound')
    expect(await tagOf(get(newAccountId()))).toBe('AccountNotFound')
  })
})
