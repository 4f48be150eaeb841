// The stores answer what the fakes in memory answer: random commands over a few records run against
// both, on two instances in turn.
import {
  notFoundAtBrokerCode,
  type OrderId,
  type OrderRequest,
  type PlacementStep,
  type OrderOutcome,
} from '@tradeport/domain/orders'
import {
  dayMs,
  hourMs,
  minuteMs,
  secondMs,
  type AccountId,
  type Owner,
  type TenantId,
  type Ticket,
  type UserId,
  type WebhookId,
} from '@tradeport/domain/primitives'
import { webhookEventTypes, type WebhookUrl } from '@tradeport/domain/webhooks'
import type { CredentialHash, ProgramId } from '@tradeport/domain/access'
import {
  thresholdSeverities,
  type Account,
  type AccountReading,
  type BrokerAccount,
} from '@tradeport/domain/accounts'
import type { Changes, OperatorKeys, OperatorRecords } from '@tradeport/domain/operator'
import type { OpenPositions } from '@tradeport/domain/ports'
import {
  createFakeAccountStore,
  createFakeCredentialStore,
  createFakeLimitStore,
  createFakeIdempotencyStore,
  createFakeOperatorStore,
  createFakeOrderStore,
  createFakeHalts,
  createFakeProviderTokens,
  createFakeRiskThresholds,
  createFakeRecords,
  createFakeTenantRecords,
  createFakeUserStore,
  createFakeWebhookStore,
  newAccessToken,
  newAccount,
  newApiKey,
  newOrder,
  newWebhook,
  openPosition,
  placementOf,
  puts,
  someProgram,
  toRecord,
  write,
} from '@tradeport/testkit'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import { describeStores, type StorePorts } from './order-ports.ts'

const createFakeStores = (): StorePorts => {
  const records = createFakeRecords()
  const clock = { now: () => noon }
  const orders = createFakeOrderStore(clock, records)
  return {
    accounts: createFakeAccountStore(records),
    credentials: createFakeCredentialStore(records),
    operator: createFakeOperatorStore(records),
    providerTokens: createFakeProviderTokens(records),
    users: createFakeUserStore(records),
    tenantRecords: createFakeTenantRecords(records),
    halts: createFakeHalts(records),
    riskThresholds: createFakeRiskThresholds(records),
    webhooks: createFakeWebhookStore(records),
    idempotency: createFakeIdempotencyStore(records),
    orderLimits: createFakeLimitStore(records, orders.all, clock),
    orders,
  }
}

const noon = Date.parse('2026-11-02T12:00:00.123Z')

// --- The records that commands are about. `@` stands for the number of the run, so that no run meets the records of another. ---

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
const orderIds = Array.from({ length: 8 }, (_, n) => `ord_0${n}@0000000000` as OrderId)
const webhookIds = [0, 1, 2].map((n) => `0000000${n}-0000-4000-9000-0000@` as WebhookId)

const inRun = <A>(value: A, run: string): A => {
  if (typeof value === 'string') return value.replaceAll('@', run) as A
  if (Array.isArray(value)) return value.map((item) => inRun(item, run)) as A
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, inRun(item, run)]),
  ) as A
}

const one = fc.constantFrom
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

const accountNumber = fc.nat(accountIds.length - 1)
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
      provider: nullable(
        fc.record({ providerAccountId: one('p0', 'p1'), region: nullable(one('london')) }),
      ),
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

const idOf = ({ id }: { readonly id: string }): string => id
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
    fc.record({ ...thresholdKeys, value: figure, halt: fc.boolean() }),
    fc.record(thresholdKeys),
    ({ accountId, type, severity }) => [accountId, type, severity],
  ),
  halts: changesOf(
    fc.record({ accountId: one(...accountIds), since: instant, reason: nullable(one('news')) }),
    one(...accountIds),
    ({ accountId }) => [accountId],
  ),
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
})

// --- The commands. ---

interface Command {
  readonly shown: string
  readonly run: (ports: StorePorts, run: string, now: number) => TE.TaskEither<unknown, unknown>
}

const command = <A>(
  name: string,
  args: fc.Arbitrary<A>,
  run: (ports: StorePorts, args: A, now: number) => TE.TaskEither<unknown, unknown>,
): fc.Arbitrary<Command> =>
  args.map((given) => ({
    shown: `${name} ${fc.stringify(given)}`,
    run: (ports, id, now) => run(ports, inRun(given, id), now),
  }))

/** The same text for the same value, in whatever order its fields were written. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
const byText = (a: unknown, b: unknown): number => (textOf(a) < textOf(b) ? -1 : 1)
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
const at = one(-hourMs, -1, 0, 1, 5 * minuteMs)
const reading: fc.Arbitrary<Omit<AccountReading, 'readAt'>> = fc.record({
  tradeMode,
  broker: nullable(text),
  currency: nullable(one('EUR')),
  figures,
})
const slice = <Place>(place: fc.Arbitrary<Place>) => ({
  after: fc.option(place, { nil: undefined }),
  limit: one(1, 2, 100),
})
const ownedSlice = <Id extends string>(id: fc.Arbitrary<Id>) =>
  fc.record({ ...slice(fc.record({ userId, id })), userId: fc.option(userId, { nil: undefined }) })
const tenantId = one(...tenantIds)
const hash = one(...hashes)
const theirAccount = fc.record({ owner: asker, id: one(...accountIds) })
const theirWebhook = fc.record({ owner: asker, id: one(...webhookIds) })
const theirOrder = fc.record({ owner: asker, id: one(...orderIds) })
const attemptFor = (...keys: readonly string[]) =>
  fc.record({
    owner: customer,
    claim: fc.record({
      key: one(...keys),
      requestHash: one(...hashes.slice(1)),
      id: one('first @', 'second @', 'third @'),
    }),
  })
// The claim of an order is not begun: its reply is kept in the transaction that records the order.
const attemptToOrder = attemptFor('a', 'b')
const attemptToBegin = attemptFor('c', 'd')
const attempt = fc.oneof(attemptToOrder, attemptToBegin)
const reply = fc.record({ body: one('"one"', '"two"'), isSecret: fc.boolean() })
const idempotencyAt = one(0, 10 * secondMs, -10 * secondMs, 35 * secondMs, -hourMs)

const fill: fc.Arbitrary<OrderOutcome> = fc.record({
  kind: one('filled', 'partially_filled'),
  fill: fc.record(
    { price: figure, volume: figure, at: one(noon), positionId: one('46870472' as Ticket) },
    { requiredKeys: [] },
  ),
})
const rejection = {
  kind: 'rejected',
  reason: { code: notFoundAtBrokerCode, message: 'not "found" \\ ü' },
} as const
const sent = { sentAt: noon, brokerOrderId: '4711' } as const
const step: fc.Arbitrary<PlacementStep> = fc.oneof(
  fill.map((outcome): PlacementStep => ({
    placement: { step: 'ended' },
    outcome,
    continueInMs: null,
  })),
  one<PlacementStep>(
    { placement: { step: 'recorded' }, continueInMs: 1 },
    { placement: { step: 'sending', sentAt: noon }, continueInMs: 1 },
    {
      placement: {
        step: 'looking_up',
        ...sent,
        lookups: 4,
        absence: { lookups: 3, coveredMs: 60_000, lastAt: noon },
      },
      continueInMs: 1,
    },
    {
      placement: { step: 'rechecking', ...sent, rechecks: 23 },
      outcome: rejection,
      continueInMs: 1,
    },
  ),
)
const request = fc.record(
  {
    symbol: one('EURUSD', 'US500.cash#-_'),
    side: one('buy', 'sell'),
    volume: one(0.1 + 0.2, 0.1, 10),
    price: figure,
    stopLoss: figure,
    takeProfit: figure,
    comment: anyText,
    clientId: anyText,
  },
  { requiredKeys: ['symbol', 'side', 'volume'] },
)
const filters = fc.record(
  {
    accountId: one(...accountIds),
    status: one('pending', 'filled'),
    symbol: one('EURUSD', 'eurusd'),
    clientId: anyText,
    from: one(noon, noon + 1),
    to: one(noon, noon + 1),
  },
  { requiredKeys: [] },
)
const openPositions = fc.option(
  fc.record({ asOf: one(0, 4_000_000_000_000), counts: fc.dictionary(one('p0', 'p1'), fc.nat(2)) }),
  {
    nil: undefined,
    freq: 2,
  },
)
const openPositionsOf = ({
  asOf,
  counts,
}: {
  readonly asOf: number
  readonly counts: Readonly<Record<string, number>>
}): OpenPositions => ({
  asOf,
  positions: new Map(
    Object.entries(counts).map(([id, count]) => [
      id,
      Array.from({ length: count }, () => openPosition()),
    ]),
  ),
})

const documents = command('document', fc.record({ keys, changes }), ({ operator }, given) =>
  pipe(
    operator.apply(given.keys, (records) => E.right({ changes: given.changes, records })),
    TE.map(({ records }) => inAnyOrder(records)),
  ),
)

const accountLimits = command('limits', theirAccount, ({ orderLimits }, { owner, id }) =>
  pipe(
    orderLimits.limitsOf(owner, id),
    TE.map(({ trader, desks }) =>
      [...(trader === null ? [] : [trader]), ...desks].map((limited) => ({
        ...limited,
        pending: limited.pending.toSorted(byText),
      })),
    ),
  ),
)
const recordReads = [
  command('accounts', asker, ({ accounts }, owner) => accounts.list(owner)),
  command('account', theirAccount, ({ accounts }, { owner, id }) => accounts.find(owner, id)),
  command(
    'snapshots',
    fc.record({
      of: theirAccount,
      query: fc.record(
        { from: instant, to: instant, limit: one(1, 2, 100) },
        { requiredKeys: ['limit'] },
      ),
    }),
    ({ accounts }, { of, query }) => accounts.snapshots(of.owner, of.id, query),
  ),
  command('key', hash, ({ credentials }, hash) => credentials.findApiKey(hash)),
  command('token', hash, ({ credentials }, hash) => credentials.findAccessToken(hash)),
  command('plan', asker, ({ credentials }, owner) => credentials.findUserPlan(owner)),
  command('provider token', tenantId, ({ providerTokens }, id) => providerTokens.find(id)),
  command('email', asker, ({ users }, owner) => users.email(owner)),
  command('challenges', theirAccount, ({ orderLimits }, { owner, id }) =>
    orderLimits.challenges(owner, id),
  ),
  accountLimits,
  command('tenant', tenantId, ({ tenantRecords }, id) => tenantRecords.find(id)),
  command('counts', tenantId, ({ tenantRecords }, id) => tenantRecords.counts(id)),
  command('tenants', one('@', ...tenantIds), ({ tenantRecords }, after) =>
    pipe(
      tenantRecords.tenants({ after: after as TenantId, limit: 2 }),
      TE.map((tenants) => tenants.filter(({ id }) => id.startsWith(after.slice(0, 8)))),
    ),
  ),
  command(
    'users',
    fc.record({ tenantId, slice: fc.record(slice(userId)) }),
    ({ tenantRecords }, given) => tenantRecords.users(given.tenantId, given.slice),
  ),
  command(
    'listed accounts',
    fc.record({ tenantId, slice: ownedSlice(one(...accountIds)) }),
    ({ tenantRecords }, given) => tenantRecords.accounts(given.tenantId, given.slice),
  ),
  command(
    'listed keys',
    fc.record({ tenantId, slice: ownedSlice(one(...names)) }),
    ({ tenantRecords }, given) => tenantRecords.apiKeys(given.tenantId, given.slice),
  ),
  command(
    'listed tokens',
    fc.record({ tenantId, slice: ownedSlice(one(...names)) }),
    ({ tenantRecords }, given) => tenantRecords.accessTokens(given.tenantId, given.slice),
  ),
  command(
    'desks',
    fc.record({ tenantId, slice: fc.record(slice(one(...names))) }),
    ({ tenantRecords }, given) => tenantRecords.desks(given.tenantId, given.slice),
  ),
]
const checkedAccount = accountNumber.map((n): BrokerAccount => ({
  accountId: accountIds[n] as AccountId,
  owner: ownerOf(n),
  platform: 'mt5',
  providerAccountId: 'p0',
  region: null,
}))
const recordWrites = [
  command('halt', fc.record({ of: theirAccount, since: instant }), ({ halts }, { of, since }) =>
    halts.halt(of.owner, of.id, { since, reason: 'theirs' }),
  ),
  command('lift', theirAccount, ({ halts }, { owner, id }) => halts.lift(owner, id)),
  command('halted', theirAccount, ({ halts }, { owner, id }) => halts.find(owner, id)),
  command(
    'checks',
    fc.record({
      of: checkedAccount,
      state: fc.record({
        providerAccountId: nullable(one('p0', 'p1')),
        breachedValue: nullable(figure),
        reference: nullable(figure),
        day: nullable(instant),
      }),
      isOvertaken: one(false, false, true),
    }),
    ({ riskThresholds }, { of, state, isOvertaken }) =>
      pipe(
        riskThresholds.ofAccount(of),
        TE.tap((thresholds) =>
          riskThresholds.record(
            of,
            thresholds.map((before) => ({
              before: isOvertaken ? { ...before, reference: 7 } : before,
              after: { ...before, ...state },
              event: undefined,
            })),
          ),
        ),
        TE.flatMap(() => riskThresholds.ofAccount(of)),
      ),
  ),
  command(
    'reading',
    fc.record({
      of: theirAccount,
      other: fc.option(accountNumber.chain(account), { freq: 4 }),
      reading,
      at,
    }),
    ({ accounts }, { of: { owner, id }, other, reading, at }, now) =>
      pipe(
        accounts.find(owner, id),
        // Mostly as it is linked now.
        TE.map(O.getOrElse((): Account => ({ ...newAccount(owner), id }))),
        TE.flatMap((linked) =>
          accounts.recordReading(
            owner,
            { ...(other ?? linked), id },
            { ...reading, readAt: now + at },
          ),
        ),
      ),
  ),
  command('failed read', fc.record({ of: theirAccount, at }), ({ accounts }, { of, at }, now) =>
    accounts.recordFailedRead(of.owner, of.id, now + at),
  ),
]

const webhookFields = fc.record(
  {
    url: one('https://münchen.example:8443/Ünï?q=%20"\'&x=𝄞' as WebhookUrl),
    enabled: fc.boolean(),
    eventTypes: fc.subarray([...webhookEventTypes]),
  },
  { requiredKeys: [] },
)
const webhookReads = [
  command('webhooks', asker, ({ webhooks }, owner) => webhooks.list(owner)),
  command('webhook', theirWebhook, ({ webhooks }, { owner, id }) =>
    webhooks.findWithSecret(owner, id),
  ),
]
const webhookWrites = [
  command(
    'create webhook',
    fc.record({
      id: one(...webhookIds),
      owner: one(trader),
      fields: webhookFields,
      createdAt: one(noon, noon + 1),
      failureCount: fc.nat(4),
      secret: one('', 'Ünï \u0000 "\\" 𝄞'),
    }),
    ({ webhooks }, { id, owner, secret, createdAt, fields, failureCount }) =>
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
  ),
  command(
    'change webhook',
    fc.record({ of: theirWebhook, fields: webhookFields }),
    ({ webhooks }, { of, fields }, now) => webhooks.change(of.owner, of.id, fields, now),
  ),
  command(
    'rotate secret',
    fc.record({
      of: theirWebhook,
      rotation: fc.record({ secret: one('𝄞 of another'), overlapHours: one(0, 0.0001, 168) }),
    }),
    ({ webhooks }, { of, rotation }, now) => webhooks.rotateSecret(of.owner, of.id, rotation, now),
  ),
  command('remove webhook', theirWebhook, ({ webhooks }, { owner, id }) =>
    webhooks.remove(owner, id),
  ),
  command('test success', fc.record({ of: theirWebhook, at }), ({ webhooks }, { of, at }, now) =>
    webhooks.recordTestSuccess(of.owner, of.id, now + at),
  ),
]

const keyWrites = [
  command(
    'claim',
    fc.record({ attempt, at: idempotencyAt }),
    ({ idempotency }, { attempt, at }, now) =>
      idempotency.claim(attempt.owner, attempt.claim, now + at),
  ),
  command(
    'begin',
    fc.record({ attempt: attemptToBegin, at: idempotencyAt }),
    ({ idempotency }, { attempt, at }, now) =>
      idempotency.begin(attempt.owner, attempt.claim, now + at),
  ),
  command('keep', fc.record({ attempt, reply }), ({ idempotency }, { attempt, reply }) =>
    idempotency.keep(attempt.owner, attempt.claim, reply),
  ),
  command('release', attempt, ({ idempotency }, { owner, claim }) =>
    idempotency.release(owner, claim),
  ),
]

const orderReads = [
  command('find order', theirOrder, ({ orders }, { owner, id }) => orders.find(owner, id)),
  command('placement', theirOrder, ({ orders }, { owner, id }) => orders.placement(owner, id)),
  command('tickets', theirOrder, ({ orders }, { owner, id }) =>
    pipe(
      orders.placement(owner, id),
      TE.flatMap((found) =>
        O.isNone(found) ? TE.right([]) : orders.othersTickets(owner, found.value),
      ),
      TE.map((tickets) => tickets.toSorted()),
    ),
  ),
]
const orderWrites = [
  command(
    'order',
    fc.record({
      id: one(...orderIds),
      owner: customer,
      accountId: one(...accountIds),
      request,
      createdAt: one(noon, noon + 1),
      openPositions,
      keep: fc.option(fc.record({ claim: attemptToOrder.map(({ claim }) => claim), reply }), {
        nil: undefined,
      }),
    }),
    ({ orders }, { id, owner, accountId, request, createdAt, openPositions, keep }) =>
      orders.record(
        owner,
        toRecord(
          { ...newOrder(owner, createdAt, { ...(request as OrderRequest), accountId }), id },
          { keep, ...(openPositions && { openPositions: openPositionsOf(openPositions) }) },
        ),
      ),
  ),
  command(
    'step',
    fc.record({
      of: theirOrder,
      step,
      versionsBehind: one(0, 0, 0, 1),
      sentAt: fc.option(one(7), { nil: undefined, freq: 8 }),
    }),
    ({ orders }, { of: { owner, id }, step, versionsBehind, sentAt }, now) =>
      pipe(
        orders.placement(owner, id),
        TE.map(O.getOrElse(() => placementOf({ ...newOrder(owner, noon), id }))),
        TE.flatMap((from) =>
          orders.advance(
            owner,
            {
              ...from,
              version: from.version - versionsBehind,
              ...(sentAt !== undefined && { placement: { step: 'sending', sentAt } }),
            },
            step,
            now,
          ),
        ),
      ),
  ),
]

const listing = command(
  'orders',
  fc.record({
    owner: asker,
    program: one(someProgram, 'another program' as ProgramId),
    filters: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, filters),
    page: one(1, 2, 3),
    limit: one(1, 2, 100),
  }),
  ({ orders }, { owner, program, filters, page, limit }, now) =>
    orders.list(owner, program, { ...filters, page, limit }, now),
)

/** Which commands belong together, so that a run meets its own records often. */
const subjects = {
  records: { reads: recordReads, writes: [documents, ...recordWrites] },
  webhooks: { reads: webhookReads, writes: [documents, ...webhookWrites] },
  orders: {
    reads: [...orderReads, listing, accountLimits],
    writes: [documents, ...orderWrites, ...orderWrites, ...keyWrites],
  },
  keys: { reads: [listing], writes: [...keyWrites, ...orderWrites] },
}

/** What is there when a run begins. */
const start = {
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
}

let lastRun = 0

const shown = (answer: E.Either<unknown, unknown>): unknown =>
  E.isLeft(answer)
    ? { refused: { ...(answer.left as object), reason: undefined, outcome: undefined } }
    : { answered: answer.right }

describeStores('the stores', (instance) => {
  it.each(Object.entries(subjects))(
    'answer what the fakes answer: %s',
    async (_, { reads, writes }) => {
      const any = fc.record({
        command: fc.oneof(...reads, ...writes),
        passesMs: one(0, 0, 0, 5 * minuteMs, 20 * minuteMs, dayMs / 2),
      })
      const sequences = fc.array(any, { minLength: 5, maxLength: 50 })
      const together = fc.array(fc.oneof(...reads), { maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(sequences, together, async (sequence, last) => {
          const run = String((lastRun += 1)).padStart(8, '0')
          const model = createFakeStores()
          const world = inRun(start, run)
          for (const ports of [model, instance(0)]) await write(ports.operator, world)
          let now = noon
          const expectSame = async (
            command: Command,
            answer: Promise<E.Either<unknown, unknown>>,
          ): Promise<void> =>
            expect(shown(await answer), command.shown).toStrictEqual(
              shown(await command.run(model, run, now)()),
            )
          for (const [index, { command, passesMs }] of sequence.entries()) {
            now += passesMs
            await expectSame(command, command.run(instance(index), run, now)())
          }
          const answers = last.map((command, index) => command.run(instance(index), run, now)())
          for (const [index, command] of last.entries())
            await expectSame(command, answers[index] as (typeof answers)[0])
        }),
        { numRuns: 40 },
      )
    },
  )
})
