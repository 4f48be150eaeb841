// Reading the positions as the terminal has them now.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { brokerRateLimited, brokerUnavailable, notProvisioned } from '@tradeport/domain'
import { closeNetwork } from '../no-network.ts'
import { account, accountPath, now, provider } from '../support.ts'
import { deskWith } from './desk-support.ts'

closeNetwork()

describe('fresh positions', () => {
  it('are asked for past the copy, and read as positions are', async () => {
    const asked = provider().get(`${accountPath}/positions?refreshTerminalState=true`).reply(200, '[]')
    expect(await deskWith().freshPositions(account)()).toEqual(E.right({ positions: [], readAt: now }))
    expect(asked.isDone()).toBe(true)
  })

  it.each<readonly [number, object | string, unknown]>([
    [404, { error: 'NotFoundError' }, notProvisioned(account.accountId)],
    [504, { error: 'TimeoutError' }, brokerUnavailable(account.accountId, 'positions: answered 504 TimeoutError')],
    [429, { error: 'TooManyRequestsError' }, brokerRateLimited(account.accountId, now + 1_000, now)],
    [200, '{}', brokerUnavailable(account.accountId, expect.any(String) as string)],
    [200, '[{"id":"1"}]', brokerUnavailable(account.accountId, expect.any(String) as string)],
  ])('cannot be read where they are answered %i %j', async (status, body, said) => {
    provider().get(`${accountPath}/positions?refreshTerminalState=true`).reply(status, body)
    expect(await deskWith().freshPositions(account)()).toEqual(E.left(said))
  })
})
