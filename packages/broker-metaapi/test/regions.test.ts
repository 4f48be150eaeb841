// Where an account is asked: the host of its own region, looked up where its link names none.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import nock from 'nock'
import { describe, expect, it } from 'vitest'
import { notProvisioned } from '@tradeport/domain'
import type { BrokerAccount } from '@tradeport/domain'
import { closeNetwork } from './no-network.ts'
import { account, accountPath, brokerWith, now, provider, provisioningHost, reasonOf, token } from './support.ts'

closeNetwork()

const unplaced: BrokerAccount = { ...account, region: null }
const minuteMs = 60_000

const servePositions = (region: string, path = accountPath) =>
  provider(`https://client.${region}.example`).get(`${path}/positions`).reply(200, []).persist()

const serveRegion = (answer: string | object, status = 200) => {
  let asked = 0
  provider(provisioningHost)
    .get(accountPath)
    .reply(status, () => {
      asked += 1
      return answer
    })
    .persist()
  return () => asked
}

describe('the region of an account', () => {
  it('is the one that its link names, without a question', async () => {
    const [london, singapore] = [servePositions('london'), servePositions('singapore')]
    const broker = brokerWith()
    expect(E.isRight(await broker.positions(account)())).toBe(true)
    expect([london.isDone(), singapore.isDone()]).toEqual([true, false])
    expect(E.isRight(await broker.positions({ ...account, region: 'singapore' })())).toBe(true)
    expect(singapore.isDone()).toBe(true)
  })

  it('is not asked for where the host needs none', async () => {
    provider('https://client.example').get(`${accountPath}/positions`).reply(200, [])
    expect(E.isRight(await brokerWith({ clientUrl: 'https://client.example' }).positions(unplaced)())).toBe(true)
  })

  it('is looked up once for many reads at the same time, and kept for ten minutes', async () => {
    const asked = serveRegion({ _id: 'provider-1', region: 'vint-hill' })
    servePositions('vint-hill')
    let time = now
    const broker = brokerWith({ clock: { now: () => time } })
    const reads = await Promise.all(Array.from({ length: 20 }, () => broker.positions(unplaced)()))
    expect(reads.every(E.isRight)).toBe(true)
    expect(asked()).toBe(1)
    time += 10 * minuteMs - 1
    await broker.positions(unplaced)()
    expect(asked()).toBe(1)
    time += 1
    await broker.positions(unplaced)()
    expect(asked()).toBe(2)
  })

  it('is looked up again after a failure', async () => {
    provider(provisioningHost).get(accountPath).reply(504, { error: 'TimeoutError' }).get(accountPath).reply(200, { region: 'london' })
    servePositions('london')
    let elapsedMs = 0
    const broker = brokerWith({ stopwatch: { elapsedMs: () => elapsedMs } })
    expect(reasonOf(await broker.positions(unplaced)())).toBe('account-region: answered 504 TimeoutError')
    elapsedMs += 2_000
    expect(E.isRight(await broker.positions(unplaced)())).toBe(true)
  })

  it('is looked up for each tenant by its own token', async () => {
    const tokens: Readonly<Record<string, string>> = { acme: 'token-a', other: 'token-b' }
    const questions = Object.values(tokens).map((own) =>
      nock(provisioningHost, { reqheaders: { 'auth-token': own } })
        .get(accountPath)
        .reply(200, { region: 'london' }),
    )
    nock('https://client.london.example').get(`${accountPath}/positions`).twice().reply(200, [])
    const broker = brokerWith({ providerToken: (tenantId) => TE.right(O.fromNullable(tokens[tenantId])) })
    await broker.positions(unplaced)()
    await broker.positions({ ...unplaced, owner: { ...unplaced.owner, tenantId: 'other' as BrokerAccount['owner']['tenantId'] } })()
    expect(questions.map((question) => question.isDone())).toEqual([true, true])
  })

  it('is of no account that the provider does not know', async () => {
    serveRegion({ error: 'NotFoundError' }, 404)
    expect(await brokerWith().positions(unplaced)()).toEqual(E.left(notProvisioned(account.accountId)))
  })

  it.each([{}, { region: '' }, { region: null }, { region: 7 }, [], null])('is unknown where the provider says %j', async (answer) => {
    serveRegion(JSON.stringify(answer))
    expect(reasonOf(await brokerWith().positions(unplaced)())).toMatch(/^account-region: /)
  })

  it('never leads the token to a host of somebody else', async () => {
    serveRegion({ region: `evil.test/${token}` })
    expect(reasonOf(await brokerWith().positions(unplaced)())).toBe("nothing was sent: the account's region is not one")
  })
})
