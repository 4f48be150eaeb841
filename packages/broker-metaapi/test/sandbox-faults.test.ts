// Every way in which the simulated provider can fail a read, and what the read then says: whole and right, or an error, never less.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Fault, Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dealKey } from '@tradeport/domain'
import type { Broker, BrokerDeal, BrokerReadError, DealsPage } from '@tradeport/domain'
import { createMetaApiBroker } from '../src/index.ts'
import { account, everWindow, manyRows, rightOf } from './support.ts'

const token = 'faults-token'
const dealCount = 2_345

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({
    tokens: [token],
    accounts: [{ id: account.providerAccountId, region: 'london', history: { deals: manyRows(dealCount) } }],
  })
})
afterEach(() => sandbox.faults.clear())
afterAll(() => sandbox.close())

/** One that remembers no failure yet. */
const freshBroker = (): Broker =>
  createMetaApiBroker({
    provisioningUrl: sandbox.url,
    clientUrl: `${sandbox.url}/{region}`,
    providerToken: () => TE.right(O.some(token)),
    clock: { now: Date.now },
    deadlines: { accountInformationMs: 2_000, readMs: 2_000 },
  })

const tagOf = (result: E.Either<{ readonly _tag: string; readonly cause?: string }, unknown>): string =>
  E.isLeft(result) ? [result.left._tag, result.left.cause].filter((text) => text !== undefined).join(' ') : 'read'

const readWhole = async (): Promise<E.Either<BrokerReadError, readonly BrokerDeal[]>> => {
  const broker = freshBroker()
  const deals: BrokerDeal[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const page: E.Either<BrokerReadError, DealsPage> = await broker.dealsPage(account, { ...everWindow, offset })()
    if (E.isLeft(page)) return page
    deals.push(...page.right.deals)
    offset = page.right.nextOffset
  }
  return E.right(deals)
}

describe('every read', () => {
  it.each<readonly [Fault, string]>([
    [{ kind: 'delay', ms: 20 }, 'read'],
    [{ kind: 'slow-body', ms: 50 }, 'read'],
    [{ kind: 'numeric-ids' }, 'read'],
    [{ kind: 'unavailable', times: 1 }, 'read'],
    [{ kind: 'server-error', times: 1 }, 'read'],
    [{ kind: 'cut', times: 1 }, 'read'],
    [{ kind: 'unavailable' }, 'BrokerUnavailable'],
    [{ kind: 'server-error' }, 'BrokerUnavailable'],
    [{ kind: 'cut' }, 'BrokerUnavailable'],
    [{ kind: 'lost' }, 'BrokerUnavailable'],
    [{ kind: 'slow-body', ms: 6_000 }, 'BrokerUnavailable'],
    [{ kind: 'timeout' }, 'BrokerUnavailable'],
    [{ kind: 'unauthorized' }, 'BrokerUnavailable token_refused'],
    [{ kind: 'forbidden' }, 'BrokerUnavailable'],
    [{ kind: 'undeployed' }, 'BrokerUnavailable'],
    [{ kind: 'wrong-region' }, 'BrokerUnavailable'],
    [{ kind: 'malformed-json' }, 'BrokerUnavailable'],
    [{ kind: 'wrong-shape', shape: 'object' }, 'BrokerUnavailable'],
    [{ kind: 'wrong-shape', shape: 'array' }, 'BrokerUnavailable'],
    [{ kind: 'wrong-shape', shape: 'string' }, 'BrokerUnavailable'],
    [{ kind: 'wrong-shape', shape: 'null' }, 'BrokerUnavailable'],
    [{ kind: 'wrong-shape', shape: 'empty' }, 'BrokerUnavailable'],
    [{ kind: 'reply', status: 307, headers: { location: '/' } }, 'BrokerUnavailable'],
    [{ kind: 'not-found' }, 'NotProvisioned'],
    [{ kind: 'rate-limit', header: 'seconds' }, 'BrokerRateLimited'],
    [{ kind: 'rate-limit', header: 'date', retryTime: 'none' }, 'BrokerRateLimited'],
    [{ kind: 'rate-limit', header: 'none', retryTime: 'iso' }, 'BrokerRateLimited'],
    [{ kind: 'rate-limit', header: 'none', retryTime: 'rfc1123' }, 'BrokerRateLimited'],
    [{ kind: 'rate-limit', header: 'none', retryTime: 'none' }, 'BrokerRateLimited'],
  ])('that meets %j says %s', async (fault, told) => {
    for (const [route, read] of [
      ['account-information', (broker: Broker) => broker.accountInformation(account)],
      ['deals', (broker: Broker) => broker.dealsPage(account, everWindow)],
    ] as const) {
      sandbox.faults.set(account.providerAccountId, route, fault)
      expect([route, tagOf(await read(freshBroker())())]).toEqual([route, told])
    }
  })
})

describe('a history', () => {
  it.each<Fault>([
    { kind: 'shuffled' },
    { kind: 'duplicates' },
    { kind: 'duplicates', rows: 400 },
    { kind: 'numeric-ids' },
    { kind: 'wrong-shape', shape: 'wrapped' },
    { kind: 'missing-volume', entry: 'all' },
    { kind: 'cut', skip: 2, times: 1 },
  ])('that meets %j is read whole', async (fault) => {
    sandbox.faults.set(account.providerAccountId, 'deals', fault)
    const deals = rightOf(await readWhole())
    expect(new Set(deals.map(dealKey)).size).toBe(dealCount)
  })

  it.each<Fault>([
    { kind: 'malformed-json', skip: 2 },
    { kind: 'timeout', skip: 1 },
    { kind: 'patch', set: { profit: '12.5' }, every: 500 },
    { kind: 'patch', remove: ['id'], every: 500 },
  ])('that meets %j is none', async (fault) => {
    sandbox.faults.set(account.providerAccountId, 'deals', fault)
    expect(tagOf(await readWhole())).toBe('BrokerUnavailable')
  })
})
