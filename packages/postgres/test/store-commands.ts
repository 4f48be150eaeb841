// Commands to the stores over a few records, which the laws run against the stores and the fakes,
// and which show how statements are planned.
import type { CredentialHash } from '@tradeport/domain/access'
import {
  thresholdSeverities,
  type Account,
  type AccountReading,
  type BrokerAccount,
} from '@tradeport/domain/accounts'
import type {
  Changes,
  OperatorChanges,
  OperatorKeys,
  OperatorRecords,
} from '@tradeport/domain/operator'
import {
  notFoundAtBrokerCode,
  type OrderId,
  type OrderOutcome,
  type OrderTerms,
  type OrderRequest,
  type Transition,
  type OpenPositions,
} from '@tradeport/domain/orders'
import {
  hourMs,
  minuteMs,
  type AccountId,
  type Owner,
  type TenantId,
  type Ticket,
  type UserId,
  type WebhookId,
} from '@tradeport/domain/primitives'
import { webhookEventTypes, type WebhookUrl } from '@tradeport/domain/webhooks'
import {
  newAccessToken,
  newAccount,
  newApiKey,
  newOrder,
  newWebhook,
  openPosition,
  puts,
  times,
} from '@tradeport/testkit'
import { opened, toRecord, placementOf, type Instance } from './harness.ts'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'

export type StorePorts = Pick<
  Instance,
  | 'accounts'
  | 'credentials'
  | 'operator'
  | 'providerTokens'
  | 'users'
  | 'tenantRecords'
  | 'riskThresholds'
  | 'halts'
  | 'webhooks'
  | 'idempotency'
  | 'orderLimits'
  | 'orders'
>

export const noon = Date.parse('2026-11-02T12:00:00.123Z')

// --- The records that commands are about. ---

const tenantIds = ['@-0', '@-1'] as TenantId[]
const owners = [0, 1, 2, 3].map((n): Owner => ({
  tenantId: tenantIds[n === 3 ? 1 : 0] as TenantId,
  userId: `user-${n}-@` as UserId,
}))
/** They have orders, keys and webhooks, and stay. */
const [trader, colleague] = owners as [Owner, Owner]
const accountIds = [0, 1, 2, 3].map((n) => `0000000${n}-0000-4000-8000-0000@` as AccountId)
const ownerOf = (accountNumber: number): Owner =>
  [trader, trader, colleague, owners[3]][accountNumber] as Owner
const names = ['0-@', '1-@']
const hashes = [0, 1, 2].map((n) => `${n}@`.padStart(57, '0') as CredentialHash)
const orderIds = times(6, (n) => `ord_0${n}@0000000000` as OrderId)
const webhookIds = [0, 1, 2].map((n) => `0000000${n}-0000-4000-9000-0000@` as WebhookId)

const one = fc.constantFrom
/** An instant by the time of the run. */
const sinceNow = (...ms: readonly number[]) =>
  one(...ms.map((sinceNow) => ({ sinceNow }) as unknown as number))

/**
 * The value for one run: `@` is the number of the run, so that no run meets the records of another.
 */
export const inRun = <A>(value: A, run: string, now = noon): A => {
  if (typeof value === 'string') return value.replaceAll('@', run) as A
  if (Array.isArray(value)) return value.map((item) => inRun(item, run, now)) as A
  if (typeof value !== 'object' || value === null) return value
  if ('sinceNow' in value) return (now + Number(value.sinceNow)) as A
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, inRun(item, run, now)]),
  ) as A
}

const text = one('', 'Main', 'Ünï "quoted" \\ ; $1 𝄞')
const anyText = one('', 'Ünï "quoted" \\ \u0000 \ud800 \u2028 𝄞')
const figure = one(0, -0.1, 0.1 + 0.2, 1e-7, 123_456_789.123_456_79, 1.7e308, 5e-324)
const instant = one(-62_167_219_200_000, noon - 1, noon, noon + hourMs, 253_402_300_799_999)
const nullable = <A>(value: fc.Arbitrary<A>) => fc.option(value, { freq: 3 })
const figures = fc.record({
  balance: figure,
  equity: figure,
  margin: figure,
  freeMargin: nullable(figure),
  marginLevel: nullable(figure),
  leverage: nullable(one(500)),
})
const tradeMode = one('demo', 'contest', 'real')
const exposureLimits = {
  maxOpenLots: nullable(one(1, 20.5)),
  maxOpenPositions: nullable(one(1, 2)),
  allowedSymbols: nullable(one([], ['EURUSD'])),
}

const provider = fc.record({
  providerAccountId: one('p0', 'p0', 'p0', 'p1'),
  region: nullable(one('london')),
})
const accountNumber = fc.nat(accountIds.length - 1)
const ownAccount = (n: number) => fc.constant([ownerOf(n), accountIds[n] as AccountId] as const)
const account = (n: number) =>
  fc
    .record({
      name: text,
      broker: nullable(text),
      server: text,
      purpose: one('trading', 'trade_copier'),
      linkedAsDemo: fc.boolean(),
      tradeMode: nullable(tradeMode),
      figures,
      status: one('connected', 'disconnected', 'syncing', 'error'),
      provider: nullable(provider),
      lastReadAt: nullable(instant),
      createdAt: one(noon - 1, noon),
      updatedAt: instant,
    })
    .map((fields): Account => ({
      ...newAccount(ownerOf(n), fields),
      id: accountIds[n] as AccountId,
    }))
const credential = fc.record({
  ipAllowlist: one([], ['10.0.0.0/8', '2001:db8::/32']),
  expiresAt: nullable(instant),
  enabled: fc.boolean(),
  hash: one(...hashes),
})
const thresholdKeys = {
  accountId: one(...accountIds),
  type: one('drawdown_above', 'equity_below'),
  severity: one(...thresholdSeverities),
}
const accountInstant = fc.record({ accountId: one(...accountIds), startedAt: one(noon, noon + 1) })

const changesOf = <Put, Key>(
  put: fc.Arbitrary<Put>,
  key: fc.Arbitrary<Key>,
  keyOf: (put: Put) => unknown,
): fc.Arbitrary<Changes<Put, Key>> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant({ put: [], remove: [] }) },
    {
      weight: 2,
      arbitrary: fc.record({
        put: fc.uniqueArray(put, {
          maxLength: 2,
          selector: (record) => JSON.stringify(keyOf(record)),
        }),
        remove: fc.oneof(
          { weight: 2, arbitrary: fc.constant([]) },
          fc.array(key, { maxLength: 1 }),
        ),
      }),
    },
  )

const idOf = ({ id }: { readonly id: string }) => id
const user = fc
  .record({ n: fc.nat(3), email: one('a', 'ünï'), plan: one('free', 'pro') })
  .map(({ n, ...fields }) => {
    const { tenantId, userId } = owners[n] as Owner
    return { id: userId, tenantId, ...fields }
  })
const userId = one(...owners.map((owner) => owner.userId))
// The owner of a record never changes: the first credential is a user's of one tenant, the second
// of the other.
const named = one(...names.map((id, n) => ({ id, user: (owners[n * 3] as Owner).userId })))
const changes = fc.record({
  tenants: changesOf(
    fc.record({
      id: one(...tenantIds),
      name: text,
      providerToken: one(undefined, null, 'a secret ☂'),
    }),
    one(tenantIds[1] as TenantId),
    idOf,
  ),
  users: changesOf(user, one(...owners.slice(2).map((owner) => owner.userId)), idOf),
  accounts: changesOf(accountNumber.chain(account), one(...accountIds), idOf),
  apiKeys: changesOf(
    fc
      .tuple(named, credential)
      .map(([{ id, user: of }, fields]) => ({ ...newApiKey(of, fields), id })),
    one(...names),
    idOf,
  ),
  accessTokens: changesOf(
    fc.tuple(named, credential).map(([{ id, user: of }, { hash, expiresAt, enabled }]) => ({
      ...newAccessToken(of, { hash, expiresAt, enabled }),
      id,
    })),
    one(...names),
    idOf,
  ),
  desks: changesOf(
    // A desk stays with its tenant, and so do its accounts.
    one(0, 1).chain((n) =>
      fc.record({
        id: fc.constant(names[n] as string),
        tenantId: fc.constant(tenantIds[n] as TenantId),
        accounts: fc.shuffledSubarray(
          accountIds.filter((_, index) => ownerOf(index).tenantId === tenantIds[n]),
        ),
        limits: fc.record(exposureLimits),
      }),
    ),
    one(...names),
    idOf,
  ),
  traderLimits: changesOf(
    fc.record({
      accountId: one(...accountIds),
      limits: fc.record({
        ...exposureLimits,
        maxLotsPerOrder: nullable(one(0.3)),
        approvalAboveLots: nullable(one(0.2)),
      }),
    }),
    one(...accountIds),
    ({ accountId }) => accountId,
  ),
  challenges: changesOf(
    fc
      .tuple(accountInstant, one('active', 'passed', 'failed'))
      .map(([place, status]) => ({ ...place, status })),
    accountInstant,
    ({ accountId, startedAt }) => [accountId, startedAt],
  ),
  balanceSnapshots: changesOf(
    fc
      .tuple(accountInstant, figure, nullable(figure))
      .map(([{ accountId, startedAt: timestamp }, balance, freeMargin]) => ({
        accountId,
        timestamp,
        balance,
        equity: balance,
        margin: 0,
        freeMargin,
      })),
    accountInstant.map(({ accountId, startedAt: timestamp }) => ({ accountId, timestamp })),
    ({ accountId, timestamp }) => [accountId, timestamp],
  ),
  riskThresholds: changesOf(
    fc.record({
      ...thresholdKeys,
      value: figure,
      halt: fc.boolean(),
      cancelOrders: fc.boolean(),
    }),
    fc.record(thresholdKeys),
    ({ accountId, type, severity }) => [accountId, type, severity],
  ),
  halts: changesOf(
    fc.record({
      accountId: one(...accountIds),
      since: instant,
      reason: nullable(one('news')),
      cancelOrders: fc.boolean(),
    }),
    one(...accountIds),
    ({ accountId }) => [accountId],
  ),
  // There is one for all runs, so that they would change each other's.
  marketDataFeed: fc.constant({ put: [], remove: [] }),
})
const keys: fc.Arbitrary<OperatorKeys> = fc.record({
  tenants: fc.subarray(tenantIds),
  users: fc.subarray(owners.map((owner) => owner.userId)),
  accounts: fc.subarray(accountIds),
  apiKeys: fc.subarray(names),
  apiKeyHashes: fc.subarray(hashes),
  accessTokens: fc.subarray(names),
  accessTokenHashes: fc.subarray(hashes),
  desks: fc.subarray(names),
  traderLimits: fc.subarray(accountIds),
  challenges: fc.array(accountInstant),
  balanceSnapshots: fc.array(
    accountInstant.map(({ accountId, startedAt: timestamp }) => ({ accountId, timestamp })),
  ),
  riskThresholds: fc.array(fc.record(thresholdKeys)),
  halts: fc.subarray(accountIds),
  marketDataFeed: fc.constant([]),
})

// --- The commands. ---

export interface Command {
  readonly shown: string
  readonly run: (ports: StorePorts, run: string, now: number) => TE.TaskEither<unknown, unknown>
}

/** A method, or what is made of its answer, with arguments for it. */
const call = <Args extends readonly unknown[]>(
  method: (ports: StorePorts) => (...args: Args) => TE.TaskEither<unknown, unknown>,
  ...args: { readonly [At in keyof Args]: fc.Arbitrary<Args[At]> }
): fc.Arbitrary<Command> =>
  fc.tuple(...(args as readonly fc.Arbitrary<unknown>[])).map((given) => ({
    shown: `${method.toString()} ${fc.stringify(given)}`,
    run: (ports, run, now) => method(ports)(...(inRun(given, run, now) as unknown as Args)),
  }))

/** The same text for the same value, in whatever order its fields were written. */
const textOf = (value: unknown) =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
const byText = (a: unknown, b: unknown) => (textOf(a) < textOf(b) ? -1 : 1)
const inAnyOrder = (records: OperatorRecords) =>
  Object.fromEntries(
    Object.entries(records).map(([kind, list]: [string, readonly unknown[]]) => [
      kind,
      list.toSorted(byText),
    ]),
  )

/** Mostly somebody who is there; else somebody of another tenant's name. */
const asker = fc.oneof(
  { weight: 5, arbitrary: one(...owners) },
  one({ ...trader, tenantId: tenantIds[1] as TenantId }),
)
const customer = one(trader, colleague)
const orderAsker = fc.oneof({ weight: 5, arbitrary: customer }, asker)
const [accountId, orderId, webhookId] = [one(...accountIds), one(...orderIds), one(...webhookIds)]
const [tenantId, hash, now] = [one(...tenantIds), one(...hashes), sinceNow(0)]
const at = sinceNow(-hourMs, -1, 0, 1, 5 * minuteMs)
const limit = one(1, 2, 100)
/** One of so many is there. */
const optional = <A>(value: fc.Arbitrary<A>, of = 2) =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const slice = <Place>(place: fc.Arbitrary<Place>) => ({ after: optional(place), limit })
const ownedSlice = <Id extends string>(id: fc.Arbitrary<Id>) =>
  fc.record({ ...slice(fc.record({ userId, id })), userId: optional(userId) })
const claim = fc.record({
  key: one('a', 'b'),
  requestHash: one(...hashes.slice(1)),
  id: one('first @', 'second @'),
})
const reply = fc.record({ body: one('"one"', '"two"'), isSecret: fc.boolean() })

const fill: fc.Arbitrary<OrderOutcome> = fc.record({
  kind: one('filled', 'partially_filled'),
  fill: fc.record(
    { price: figure, volume: figure, at: one(noon), positionId: one('46870472' as Ticket) },
    { requiredKeys: [] },
  ),
})
const end: fc.Arbitrary<OrderOutcome> = one(
  { kind: 'cancelled', reason: 'user' },
  { kind: 'cancelled', reason: 'broker', at: noon },
  { kind: 'expired', at: noon },
)
const terms: OrderTerms = {
  price: 1.1,
  stopLimitPrice: 1.2,
  takeProfit: 1.3,
  timeInForce: 'gtd',
  expiresAt: noon,
}
const sent = { sentAt: noon, brokerOrderId: '4711' } as const
const absence = { lookups: 3, coveredMs: 60_000, lastAt: noon }
const reason = { code: notFoundAtBrokerCode, message: 'not "found" \\ ü' }
/** Null stands for the broker's number that the order shows: it never loses one. */
const step: fc.Arbitrary<Transition> = fc.oneof(
  fc.oneof(fill, fill, fill, end).map((outcome) => ({
    placement: { step: 'ended' as const },
    outcome,
    continueInMs: null,
  })),
  fc.constant(opened),
  one<Omit<Transition, 'continueInMs'>>(
    { placement: { step: 'recorded' } },
    { placement: { step: 'sending', sentAt: noon } },
    { placement: { step: 'looking_up', ...sent, lookups: 4, absence } },
    {
      placement: {
        step: 'looking_up',
        ...sent,
        isPartlyExecuted: true,
        lookups: 0,
        absence: null,
      },
    },
    {
      placement: {
        step: 'open',
        ...sent,
        unexecutedAt: noon + 1,
        cancellation: null,
        missing: null,
      },
      terms,
    },
    {
      placement: {
        step: 'open',
        sentAt: noon,
        unexecutedAt: noon,
        brokerOrderId: null,
        cancellation: { by: 'halt', isConfirmed: true },
        missing: { since: noon, lookups: 2 },
      },
    },
    {
      placement: {
        step: 'confirming',
        sentAt: noon,
        brokerOrderId: null,
        unexecutedAt: noon,
        cancellation: { by: 'user', isConfirmed: false },
        missing: { since: noon, lookups: 1 },
      },
      outcome: { kind: 'cancelled', reason: 'user', at: noon },
    },
    {
      placement: { step: 'rechecking', sentAt: noon, brokerOrderId: null, rechecks: 23 },
      outcome: { kind: 'rejected', reason },
    },
  ).map((given) => ({ ...given, continueInMs: 1 })),
)
const request: fc.Arbitrary<Omit<OrderRequest, 'accountId'>> = fc.record(
  {
    symbol: one('EURUSD', 'US500.cash#-_'),
    side: one('buy', 'sell'),
    orderType: one('market', 'limit', 'stop_limit'),
    volume: one(0.1 + 0.2, 0.1, 10),
    price: figure,
    stopLimitPrice: figure,
    timeInForce: one('gtc', 'day', 'gtd'),
    expiresAt: one(noon),
    stopLoss: figure,
    takeProfit: figure,
    comment: anyText,
    clientId: anyText,
  },
  { requiredKeys: ['symbol', 'side', 'orderType', 'volume'] },
) as never
const filters = fc.record(
  {
    accountId,
    status: one('pending', 'filled'),
    symbol: one('EURUSD', 'eurusd'),
    clientId: anyText,
    from: one(noon, noon + 1),
    to: one(noon, noon + 1),
  },
  { requiredKeys: [] },
)
const openPositions = fc.record({
  readAt: one(0, 4_000_000_000_000),
  counts: fc.record({ p0: one(0, 0, 0, 2), p1: fc.nat(2) }, { requiredKeys: ['p0'] }),
})
const openPositionsOf = ({
  readAt,
  counts,
}: typeof openPositions extends fc.Arbitrary<infer A> ? A : never): OpenPositions => ({
  readAt,
  positions: new Map(
    Object.entries(counts).map(([id, count]) => [id, times(count, () => openPosition())]),
  ),
})

const documents = call(
  ({ operator }) =>
    (keys, changes) =>
      pipe(
        operator.apply(keys, (records) => E.right({ changes, records })),
        TE.map(({ records }) => inAnyOrder(records)),
      ),
  keys,
  changes,
)
const accountLimits = call(
  ({ orderLimits }) =>
    ([owner, id]) =>
      pipe(
        orderLimits.limitsOf(owner, id),
        TE.map(({ trader, desks }) =>
          [...(trader === null ? [] : [trader]), ...desks].map((limited) => ({
            ...limited,
            counted: limited.counted.toSorted(byText),
          })),
        ),
      ),
  fc.oneof(accountNumber.chain(ownAccount), fc.tuple(asker, accountId)),
)
const recordReads = [
  call(({ halts }) => halts.find, asker, accountId),
  call(({ halts }) => halts.haltCancelsOrders, asker, accountId),
  call(({ accounts }) => accounts.list, asker),
  call(({ accounts }) => accounts.find, asker, accountId),
  call(
    ({ accounts }) => accounts.snapshots,
    asker,
    accountId,
    fc.record({ from: instant, to: instant, limit }, { requiredKeys: ['limit'] }),
  ),
  call(({ credentials }) => credentials.findApiKey, hash),
  call(({ credentials }) => credentials.findAccessToken, hash),
  call(({ credentials }) => credentials.findUserPlan, asker),
  call(({ providerTokens }) => providerTokens.find, tenantId),
  call(({ users }) => users.email, asker),
  call(
    ({ orderLimits }) =>
      (owner, id) =>
        pipe(
          orderLimits.challenges(owner, id),
          TE.map((challenges) => challenges.toSorted(byText)),
        ),
    asker,
    accountId,
  ),
  accountLimits,
  call(({ tenantRecords }) => tenantRecords.find, tenantId),
  call(({ tenantRecords }) => tenantRecords.counts, tenantId),
  call(({ tenantRecords }) => tenantRecords.counts, tenantId, userId),
  call(
    ({ tenantRecords }) =>
      (after) =>
        pipe(
          tenantRecords.tenants({ after, limit: 2 }),
          TE.map((tenants) => tenants.filter(({ id }) => id.startsWith(after.slice(0, 8)))),
        ),
    one('@' as TenantId, ...tenantIds),
  ),
  call(({ tenantRecords }) => tenantRecords.users, tenantId, fc.record(slice(userId))),
  call(({ tenantRecords }) => tenantRecords.accounts, tenantId, ownedSlice(accountId)),
  call(({ tenantRecords }) => tenantRecords.apiKeys, tenantId, ownedSlice(one(...names))),
  call(({ tenantRecords }) => tenantRecords.accessTokens, tenantId, ownedSlice(one(...names))),
  call(({ tenantRecords }) => tenantRecords.desks, tenantId, fc.record(slice(one(...names)))),
]
const recordWrites = [
  call(
    ({ halts }) => halts.halt,
    asker,
    accountId,
    fc.record({ since: instant, reason: one('theirs'), cancelOrders: fc.boolean() }),
  ),
  call(({ halts }) => halts.lift, asker, accountId),
  call(
    ({ riskThresholds }) =>
      (account, state, isOvertaken) =>
        pipe(
          riskThresholds.ofAccount(account),
          TE.tap((thresholds) =>
            riskThresholds.record(
              account,
              thresholds.map((before) => ({
                before: isOvertaken ? { ...before, reference: 7 } : before,
                after: { ...before, ...state },
                breach: undefined,
              })),
              undefined,
            ),
          ),
          TE.flatMap(() => riskThresholds.ofAccount(account)),
        ),
    accountNumber.map((n): BrokerAccount => ({
      accountId: accountIds[n] as AccountId,
      owner: ownerOf(n),
      platform: 'mt5',
      providerAccountId: 'p0',
      region: null,
    })),
    fc.record({
      providerAccountId: nullable(one('p0', 'p1')),
      breachedValue: nullable(figure),
      reference: nullable(figure),
      unconfirmedEquity: nullable(figure),
      day: nullable(instant),
      checkedAt: nullable(instant),
    }),
    one(false, false, true),
  ),
  call(
    ({ accounts }) =>
      (owner, id, other, reading, failedAt) =>
        pipe(
          accounts.find(owner, id),
          // Mostly as it is linked now.
          TE.map(O.getOrElse((): Account => ({ ...newAccount(owner), id }))),
          TE.flatMap((linked) => {
            const read = { ...(other ?? linked), id }
            return failedAt === undefined
              ? accounts.recordReading(owner, read, reading)
              : accounts.recordFailedRead(owner, read, failedAt)
          }),
        ),
    asker,
    accountId,
    optional(accountNumber.chain(account), 4),
    fc.record<AccountReading>({
      tradeMode,
      broker: nullable(text),
      currency: nullable(one('EUR')),
      figures,
      readAt: at,
    }),
    optional(at),
  ),
]

const webhookUrl = one('https://münchen.example:8443/Ünï?q=%20"\'&x=𝄞' as WebhookUrl)
const webhookFields = fc.record(
  {
    url: webhookUrl,
    enabled: fc.boolean(),
    eventTypes: fc.subarray([...webhookEventTypes]),
  },
  { requiredKeys: [] },
)
const webhookReads = [
  call(({ webhooks }) => webhooks.list, asker),
  call(({ webhooks }) => webhooks.findWithSecret, asker, webhookId),
]
const webhookWrites = [
  call(
    ({ webhooks }) =>
      (owner, id, createdAt, fields, failureCount, secret) =>
        pipe(
          webhooks.find(owner, id),
          TE.flatMap((found) =>
            O.isSome(found)
              ? TE.right(undefined)
              : webhooks.create(owner, {
                  webhook: newWebhook(owner, createdAt, { id, failureCount, ...fields }),
                  secret,
                }),
          ),
        ),
    one(trader),
    webhookId,
    one(noon, noon + 1),
    webhookFields,
    fc.nat(4),
    one('', 'Ünï \u0000 "\\" 𝄞'),
  ),
  call(({ webhooks }) => webhooks.change, asker, webhookId, webhookFields, now),
  call(
    ({ webhooks }) => webhooks.rotateSecret,
    asker,
    webhookId,
    fc.record({ secret: one('𝄞 of another'), overlapHours: one(0, 0.0001, 168) }),
    now,
  ),
  call(({ webhooks }) => webhooks.remove, asker, webhookId),
  call(({ webhooks }) => webhooks.recordTestSuccess, asker, webhookId, webhookUrl, at),
]

const keyWrites = [
  call(({ idempotency }) => idempotency.claim, customer, claim),
  call(({ idempotency }) => idempotency.begin, customer, claim),
  call(({ idempotency }) => idempotency.storeReply, customer, claim, reply),
  call(({ idempotency }) => idempotency.replaceReply, customer, claim, reply),
  call(({ idempotency }) => idempotency.release, customer, claim),
]

const orderReads = [
  call(({ orders }) => orders.find, orderAsker, orderId),
  call(({ orders }) => orders.counts, orderAsker, now),
  call(({ orders }) => orders.findStored, orderAsker, orderId),
  call(
    ({ orders }) =>
      (owner, id) =>
        pipe(
          orders.findStored(owner, id),
          TE.flatMap((found) =>
            O.isNone(found) ? TE.right([]) : orders.ticketsOfOtherOrders(owner, found.value),
          ),
          TE.map((tickets) => tickets.toSorted()),
        ),
    orderAsker,
    orderId,
  ),
  call(
    ({ orders }) =>
      (owner, id) =>
        orders.openOrders(owner, id),
    orderAsker,
    accountId,
  ),
]
const orderWrites = [
  call(
    ({ orders }) =>
      ([owner, accountId], id, fields, createdAt, sentTo, open, replyToStore) => {
        const order = { ...newOrder(owner, createdAt, { ...fields, accountId }), id }
        const destination = { ...toRecord(order).destination, ...sentTo }
        const openPositions = open && openPositionsOf(open)
        return orders.record(owner, toRecord(order, { destination, replyToStore, openPositions }))
      },
    fc.oneof(
      { weight: 3, arbitrary: one(0, 1, 2).chain(ownAccount) },
      { weight: 1, arbitrary: fc.tuple(customer, accountId) },
    ),
    orderId,
    request,
    one(noon, noon + 1),
    provider,
    optional(openPositions),
    optional(fc.record({ claim, reply }), 5),
  ),
  call(
    ({ orders }) =>
      (owner, id, next, versionsBehind, sentAt, at) =>
        pipe(
          orders.findStored(owner, id),
          TE.map(O.getOrElse(() => placementOf({ ...newOrder(owner, noon), id }))),
          TE.flatMap((from) => {
            const { placement } = next
            const shown = from.order.brokerOrderId ?? null
            return orders.advance(
              owner,
              {
                ...from,
                version: from.version - (versionsBehind ?? 0),
                ...(sentAt !== undefined && { placement: { step: 'sending', sentAt } }),
              },
              'brokerOrderId' in placement && placement.brokerOrderId === null
                ? { ...next, placement: { ...placement, brokerOrderId: shown } }
                : next,
              at,
            )
          }),
        ),
    orderAsker,
    orderId,
    step,
    optional(one(1), 8),
    optional(one(7), 8),
    now,
  ),
]
const listing = call(
  ({ orders }) => orders.list,
  orderAsker,
  fc
    .tuple(fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, filters), one(1, 1, 2), limit)
    .map(([some, page, limit]) => ({ ...some, page, limit })),
)

/** Which commands belong together, so that a run meets its own records often. */
export const subjects = {
  records: { reads: recordReads, writes: [documents, ...recordWrites] },
  webhooks: { reads: webhookReads, writes: [documents, ...webhookWrites] },
  orders: {
    reads: [...orderReads, listing, listing, listing, accountLimits, accountLimits],
    writes: [documents, ...times(6, () => orderWrites).flat()],
  },
  keys: { reads: [listing], writes: [...keyWrites, ...orderWrites] },
}
/** All but the operator's documents. */
export const requests = [
  ...recordWrites,
  ...webhookWrites,
  ...keyWrites,
  ...orderWrites,
  ...recordReads,
  ...webhookReads,
  ...orderReads,
  listing,
]

/** What is there when a run begins. */
export const start: Pick<OperatorChanges, 'tenants' | 'users' | 'accounts' | 'traderLimits'> = {
  tenants: puts(...tenantIds.map((id) => ({ id, name: 'Acme' }))),
  users: puts(
    ...owners.map(({ tenantId, userId: id }) => ({
      id,
      tenantId,
      email: '',
      plan: 'free' as const,
    })),
  ),
  accounts: puts(
    ...accountIds.map((id, n) => ({
      ...newAccount(ownerOf(n), { provider: { providerAccountId: 'p0', region: null } }),
      id,
    })),
  ),
  traderLimits: puts(
    ...accountIds.map((id) => ({
      accountId: id,
      limits: {
        maxOpenLots: null,
        maxOpenPositions: 1,
        allowedSymbols: null,
        maxLotsPerOrder: null,
        approvalAboveLots: null,
      },
    })),
  ),
}
