// The checks of the operator's doctor, of the service and of a tenant: each is fine, or reports
// what is wrong and what to do.
import * as E from 'fp-ts/lib/Either.js'
import type { ServiceUnavailable } from '../errors.ts'
import type { AccountId } from '../primitives/ids.ts'
import { minuteMs, secondMs, type Instant } from '../primitives/instant.ts'
import type { ListedTenant } from './listing.ts'
import type { SecretCounts } from './sealed-secrets.ts'

export interface HealthCheck {
  readonly name:
    | 'database'
    | 'database writes'
    | 'tables'
    | 'database clock'
    | 'fsync'
    | 'full_page_writes'
    | 'synchronous_commit'
    | 'replication'
    | 'limits'
    | 'peer notices'
    | 'token issuer'
    | 'secrets'
    | 'orders'
    | 'journals'
    | 'halts'
    | 'risk thresholds'
    | 'market data feed'
    | 'provider token'
    | 'provider clock'
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  /** What to do; null where there is nothing. */
  readonly action: string | null
}

/**
 * How requests are counted: by this instance alone as it is meant, by all together, or by this one
 * for want of Redis.
 */
export type LimiterStatus = LimiterStanding['status']

export type LimiterStanding =
  | { readonly status: 'in-process' | 'shared' }
  | { readonly status: 'alone'; readonly reason: string }

/**
 * The settings of PostgreSQL that decide whether an acknowledged commit survives a crash, under
 * their own names.
 */
export interface Durability {
  /** PGlite, in a thread of the service. */
  readonly isEmbedded: boolean
  readonly fsync: boolean
  readonly fullPageWrites: boolean
  /** In the sessions of the service. */
  readonly synchronousCommit: string
  /** What a session has that does not set it. */
  readonly defaultSynchronousCommit: string
  /** Whether synchronous_standby_names is set. */
  readonly waitsForStandby: boolean
  readonly synchronousStandbys: number
  readonly asynchronousStandbys: number
  /** Standbys of which the service's database user may not see whether they are synchronous. */
  readonly unreadableStandbys: number
}

/** What another clock showed, and when it was read by ours. */
export interface ClockReading {
  readonly askedAt: Instant
  readonly reportedAt: Instant
  readonly answeredAt: Instant
  /**
   * How far `reportedAt` may be from the other clock's time: half a second where it reports whole
   * seconds.
   */
  readonly toleranceMs: number
}

/** The outcome of a read at the provider with the tenant's token. */
export type ProviderStanding =
  | { readonly kind: 'no_token' }
  /** One that an HTTP header cannot carry. */
  | { readonly kind: 'invalid_token' }
  /** No secrets key opens it, or the database is unavailable. */
  | { readonly kind: 'unreadable_token' }
  | { readonly kind: 'accepted'; readonly clock: ClockReading | null }
  | { readonly kind: 'refused'; readonly status: 401 | 403 }
  | { readonly kind: 'unavailable'; readonly reason: string }

type Read<A> = E.Either<ServiceUnavailable, A>

const ok = (name: HealthCheck['name'], message: string): HealthCheck => ({
  name,
  status: 'ok',
  message,
  action: null,
})

const wrong =
  (status: 'warn' | 'fail') =>
  (name: HealthCheck['name'], message: string, action: string): HealthCheck => ({
    name,
    status,
    message,
    action,
  })
const warn = wrong('warn')
const fail = wrong('fail')

const lookAtDatabase =
  'Look at the database server and at DATABASE_URL; the service finds it again by itself.'

const unreadable = (name: HealthCheck['name'], verb: string): HealthCheck =>
  fail(name, `They cannot be ${verb} while the database cannot be read.`, lookAtDatabase)

export const databaseHealth = (read: Read<unknown>): HealthCheck =>
  E.isRight(read)
    ? ok('database', 'It answers.')
    : fail('database', `It cannot be read (${read.left.reason}).`, lookAtDatabase)

export const writesHealth = (write: Read<unknown>): HealthCheck =>
  E.isRight(write)
    ? ok('database writes', 'They are accepted.')
    : fail(
        'database writes',
        `Nothing can be written to the database (${write.left.reason}).`,
        'Free space on its disk, which is that of DATA_DIR without DATABASE_URL, and see that DATABASE_URL leads to a server that accepts writes.',
      )

export const tablesHealth = (isMigrated: Read<boolean>): HealthCheck => {
  if (E.isLeft(isMigrated)) return unreadable('tables', 'looked at')
  if (isMigrated.right) return ok('tables', 'They are those that this version needs.')
  return fail(
    'tables',
    'They are not those that this version needs.',
    'Start this version anew: it brings them up to date at its start. If they were changed by hand, restore a backup.',
  )
}

const orderTwice = 'and the order be sent a second time when its request is repeated'

/** For the log at start too. */
export const embeddedRisk =
  'The embedded database (PGlite) does not flush to disk at each commit: in a power cut or a crash of the machine an order can be lost after its 201, ' +
  `${orderTwice}.`

/**
 * One check for each setting, and a single one where the settings cannot be read or are those of
 * the embedded database.
 */
export const durabilityHealth = (
  read: Read<Durability>,
  sendsRealOrders: boolean,
): readonly HealthCheck[] => {
  if (E.isLeft(read))
    return [
      fail(
        'fsync',
        `The settings of the database cannot be read (${read.left.reason}).`,
        lookAtDatabase,
      ),
    ]
  const { isEmbedded, fsync, fullPageWrites } = read.right
  if (isEmbedded)
    return [
      sendsRealOrders
        ? warn('fsync', embeddedRisk, 'Set DATABASE_URL to a PostgreSQL server.')
        : ok(
            'fsync',
            'The embedded database (PGlite) does not flush to disk at each commit, and no order reaches a real broker.',
          ),
    ]
  return [
    fsync
      ? ok('fsync', 'It is on.')
      : fail(
          'fsync',
          'It is off: a power cut or a crash of the database machine can damage the whole database.',
          'Set fsync = on in postgresql.conf and reload the server.',
        ),
    fullPageWrites
      ? ok('full_page_writes', 'It is on.')
      : warn(
          'full_page_writes',
          'It is off: a page that is being written during a power cut can stay damaged, unless the file system writes pages whole.',
          'Set full_page_writes = on in postgresql.conf and reload the server, unless its file system (such as ZFS) writes pages whole.',
        ),
    synchronousCommitHealth(read.right),
    replicationHealth(read.right),
  ]
}

const safeSynchronousCommits = ['on', 'remote_apply']

const synchronousCommitHealth = ({
  synchronousCommit,
  defaultSynchronousCommit,
}: Durability): HealthCheck => {
  const name = 'synchronous_commit'
  if (!safeSynchronousCommits.includes(synchronousCommit))
    return fail(
      name,
      `It is ${synchronousCommit} in the sessions of the service, which set it to on: in a crash an order can be lost after its 201, ${orderTwice}.`,
      'Let DATABASE_URL lead to the server itself, or to a pooler that keeps a session for each connection.',
    )
  if (!safeSynchronousCommits.includes(defaultSynchronousCommit))
    return warn(
      name,
      `The service sets it to on. Its default is ${defaultSynchronousCommit}: whatever else writes to this database can lose its last commits in a crash.`,
      'Set synchronous_commit = on for the server, the database and the role.',
    )
  return ok(name, 'It is on, and so is its default.')
}

const replicationHealth = (settings: Durability): HealthCheck => {
  const { waitsForStandby, synchronousStandbys, asynchronousStandbys, unreadableStandbys } =
    settings
  const name = 'replication'
  if (unreadableStandbys > 0)
    return warn(
      name,
      'A standby is connected, and the database user of the service may not see whether commits wait for it.',
      'Grant pg_read_all_stats to that user.',
    )
  if (synchronousStandbys > 0) return ok(name, 'Commits wait for a synchronous standby.')
  if (waitsForStandby)
    return fail(
      name,
      'synchronous_standby_names is set and no synchronous standby is connected: every write waits until one is.',
      'Connect the standby, or unset synchronous_standby_names.',
    )
  if (asynchronousStandbys > 0)
    return warn(
      name,
      `The standby is asynchronous: after a failover the last orders can be missing on it, ${orderTwice}.`,
      'Set synchronous_standby_names, so that commits wait for the standby.',
    )
  return warn(
    name,
    'No standby is connected: if the disk of the server is lost, so is everything since the last backup, orders under way included.',
    'Connect a synchronous standby, or make sure that the storage of the server is replicated.',
  )
}

export const limitsHealth = (standing: LimiterStanding): HealthCheck => {
  switch (standing.status) {
    case 'in-process':
      return ok(
        'limits',
        'This instance counts requests by itself; several instances need REDIS_URL to share their limits.',
      )
    case 'shared':
      return ok('limits', 'Redis answers, and the instances share their limits.')
    case 'alone':
      return warn(
        'limits',
        `Redis cannot be used (${standing.reason}): this instance limits by itself until it can.`,
        'Look at the Redis server and at REDIS_URL; it is found again by itself.',
      )
  }
}

/** @param confirmedAt as in PeerNotices */
export const noticesHealth = (confirmedAt: Instant, now: Instant): HealthCheck =>
  now - confirmedAt < 10 * secondMs
    ? ok('peer notices', 'Those of other instances arrive.')
    : warn(
        'peer notices',
        'Those of other instances do not arrive: every credential is read from the database each second, and what another instance changes shows seconds later.',
        'Let DATABASE_URL lead to the server itself, or to a pooler that keeps a session for each connection: behind another, orders are refused as well.',
      )

export const issuerHealth = (keys: Read<unknown>): HealthCheck =>
  E.isRight(keys)
    ? ok('token issuer', 'Its keys can be read.')
    : fail(
        'token issuer',
        `Its keys cannot be read (${keys.left.reason}).`,
        'Look at OAUTH_ISSUER and at the way to its host. Access tokens are verified with the keys that were read before; by an instance that has read none they are answered 503.',
      )

export const secretsHealth = (counts: Read<SecretCounts>): HealthCheck => {
  if (E.isLeft(counts)) return unreadable('secrets', 'counted')
  const { current, earlier, unknown } = counts.right
  const all = current + earlier + unknown
  if (unknown > 0)
    return fail(
      'secrets',
      `${unknown} of ${all} cannot be decrypted with any key that the service was given.`,
      'Start the service with the key that encrypted them in SECRETS_KEY_PREVIOUS. If it is lost, `pnpm operator secrets rotate` names them: set those provider tokens anew, and have the owners rotate the secrets of those webhooks.',
    )
  if (earlier > 0)
    return warn(
      'secrets',
      `${earlier} of ${all} are encrypted with an earlier key.`,
      'Run `pnpm operator secrets rotate`; until then keep the earlier keys in SECRETS_KEY_PREVIOUS.',
    )
  return ok('secrets', `All ${all} are encrypted with the current key.`)
}

/** How long the outcome of an order may be unknown before an operator should look at it. */
export const stuckAfterMs = 10 * minuteMs
/** Stuck orders are counted up to this number. */
export const maxCountedStuck = 1_000

/**
 * @param stuck how many orders have been pending, or open and missing at the broker, for longer
 * than `stuckAfterMs`, counted up to `maxCountedStuck`
 */
export const ordersHealth = (stuck: Read<number>): HealthCheck => {
  if (E.isLeft(stuck)) return unreadable('orders', 'counted')
  const count = stuck.right
  if (count === 0)
    return ok(
      'orders',
      'None has been pending, or missing at the broker, for longer than ten minutes.',
    )
  const atLeast = count < maxCountedStuck ? '' : 'At least '
  return warn(
    'orders',
    `${atLeast}${count} ${count === 1 ? 'has' : 'have'} been pending, or open and missing at the broker, for longer than ten minutes.`,
    'Run `pnpm operator orders list --stuck` and compare with the records of the broker; `pnpm operator orders finish` ends one by hand.',
  )
}

/** An account whose kept deals do not add up to its balance at the broker. */
export interface DisagreeingJournal {
  readonly accountId: AccountId
  /** Balance less the sum of the deals, in the account's currency. */
  readonly difference: number
}

/** Accounts are listed up to this number. */
export const maxListedAccounts = 1_000
const namedAccounts = 3

/** Such as `at least 1000 accounts`, and the first of them. */
const accountsOf = (all: readonly string[]) => ({
  count: `${all.length < maxListedAccounts ? '' : 'at least '}${all.length} ${all.length === 1 ? 'account' : 'accounts'}`,
  named: `${all.slice(0, namedAccounts).join(', ')}${all.length > namedAccounts ? ', …' : ''}`,
})

export const journalsHealth = (read: Read<readonly DisagreeingJournal[]>): HealthCheck => {
  if (E.isLeft(read)) return unreadable('journals', 'read')
  const found = read.right
  if (found.length === 0)
    return ok('journals', 'The deals of every account that was compared add up to its balance.')
  const { count, named } = accountsOf(
    found.map(({ accountId, difference }) => `${accountId} by ${difference}`),
  )
  return warn(
    'journals',
    `The deals of ${count} do not add up to the balance: ${named}.`,
    'The histories are read again by themselves, at least every hour. Where a difference stays, the broker has cut off the beginning of the history, ' +
      'and trades and statistics of the account are incomplete.',
  )
}

/** @param ignored how many accounts are halted and get orders all the same */
export const haltsHealth = (ignored: Read<number>): HealthCheck => {
  if (E.isLeft(ignored)) return unreadable('halts', 'counted')
  if (ignored.right === 0) return ok('halts', 'This instance ignores none.')
  return warn(
    'halts',
    `${ignored.right} ${ignored.right === 1 ? 'account is halted, and gets' : 'accounts are halted, and get'} orders all the same while the capability trading-tools is off.`,
    'Add trading-tools to CAPABILITIES. To let them trade, lift the halts: switched on later, these come into effect.',
  )
}

/** @param read the accounts with thresholds whose last check is longer ago than it should be */
export const thresholdsHealth = (read: Read<readonly AccountId[]>): HealthCheck => {
  const name = 'risk thresholds'
  if (E.isLeft(read)) return unreadable(name, 'looked at')
  if (read.right.length === 0) return ok(name, 'All are being checked.')
  const { count, named } = accountsOf(read.right)
  return warn(
    name,
    `Those of ${count} have not been checked for minutes: ${named}. A breach halts nothing and is no event until they are.`,
    'Look for the account in the log lines journal_synchronisation, and at the capability events, without which none is checked. Thresholds that were just set are checked within WATCH_SECONDS. ' +
      'Orders are accepted meanwhile: halt the account where they must not be.',
  )
}

/** What the account of the operator's feed has of the listed instruments. */
export type FeedStanding =
  | { readonly kind: 'none' }
  /** Nor is it known whether there is one. */
  | { readonly kind: 'database_unreadable' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | {
      readonly kind: 'read'
      readonly accountId: AccountId
      /** Listed instruments that its broker does not have, or of which it has several. */
      readonly unknown: readonly string[]
      readonly ambiguous: readonly string[]
    }

export const feedHealth = (standing: FeedStanding): HealthCheck => {
  const name = 'market data feed'
  if (standing.kind === 'none')
    return ok(name, 'There is none: prices are answered for linked accounts alone.')
  if (standing.kind === 'database_unreadable')
    return fail(name, 'It cannot be read while the database cannot be read.', lookAtDatabase)
  if (standing.kind === 'unreadable')
    return fail(
      name,
      `Its account cannot be read (${standing.reason}).`,
      'See that the account of marketDataFeed is linked, provisioned and connected at the provider, or name another in the document.',
    )
  const { accountId, unknown, ambiguous } = standing
  if (unknown.length + ambiguous.length === 0)
    return ok(name, `Account ${accountId} has every listed instrument.`)
  const parts = [
    unknown.length > 0 && `does not have ${unknown.join(', ')}`,
    ambiguous.length > 0 && `has several symbols for ${ambiguous.join(', ')}`,
  ]
  return warn(
    name,
    `The broker of account ${accountId} ${parts.filter(Boolean).join(' and ')}.`,
    "Name the broker's spelling in symbols of marketDataFeed; an instrument that the broker does not have is answered 404.",
  )
}

/** A clock that is off by less is within what the service promises. */
export const warnSkewMs = 1_000
export const failSkewMs = 30_000

/**
 * By how much the other clock is ahead of ours at least (behind it when negative), however the
 * delay was divided between question and answer; 0 where they may agree.
 */
const certainSkewMs = ({ askedAt, reportedAt, answeredAt, toleranceMs }: ClockReading): number => {
  if (reportedAt - toleranceMs > answeredAt) return reportedAt - toleranceMs - answeredAt
  return reportedAt + toleranceMs < askedAt ? reportedAt + toleranceMs - askedAt : 0
}

/** @param reading null where the other's clock cannot be read */
export const clockHealth = (
  name: 'database clock' | 'provider clock',
  reading: ClockReading | null,
): HealthCheck => {
  if (reading === null)
    return warn(
      name,
      'It cannot be read: the reply has no Date header.',
      'Compare the clocks by hand.',
    )
  const skewMs = certainSkewMs(reading)
  const off = Math.abs(skewMs)
  if (off <= warnSkewMs) return ok(name, 'It agrees with the service’s within a second.')
  const message = `It is ${(off / 1_000).toFixed(1)} seconds or more ${skewMs > 0 ? 'ahead of' : 'behind'} the service’s.`
  const action =
    'Keep the clocks of the service and of its servers by NTP: expiry of keys, the day of orders and limits go by them.'
  return wrong(off > failSkewMs ? 'fail' : 'warn')(name, message, action)
}

const setToken = (id: string): string =>
  `Apply a document with {"tenants": [{"id": "${id}", "providerToken": "…"}]}.`

export const providerTokenHealth = (
  { id }: Pick<ListedTenant, 'id'>,
  standing: ProviderStanding,
): HealthCheck => {
  const name = 'provider token'
  switch (standing.kind) {
    case 'accepted':
      return ok(name, 'The provider accepts it.')
    case 'no_token':
      return fail(name, 'It is not set: no account of the tenant can be read.', setToken(id))
    case 'invalid_token':
      return fail(name, 'It contains characters that an HTTP header cannot carry.', setToken(id))
    case 'unreadable_token':
      return fail(
        name,
        'It cannot be read: no secrets key that the service was given opens it, or the database is unavailable.',
        `Look at the checks of the database and of secrets. If the key that encrypted it is lost: ${setToken(id)}`,
      )
    case 'refused':
      return standing.status === 401
        ? fail(
            name,
            'The provider refuses it: it is wrong or has expired.',
            `Have a new one made at the provider. ${setToken(id)}`,
          )
        : warn(
            name,
            'The provider knows it, and it may not list accounts.',
            'Where accounts of the tenant cannot be read, widen the rights of the token at the provider.',
          )
    case 'unavailable':
      return warn(
        name,
        `It cannot be tried: the provider is unavailable (${standing.reason}).`,
        'Look at the way from the service to METAAPI_PROVISIONING_URL, and try again later.',
      )
  }
}
