// What every method of the adapter needs: the tenant's token, the host of the account's region, and
// reads and trades within their deadlines.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerReadError } from '@tradeport/domain/errors'
import type { Clock, ProviderTokens, Stopwatch } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import { createAccountPauses, type PauseLimits } from './account-pauses.ts'
import { createClockSkew } from './clock-skew.ts'
import { defaultDeadlines, withDeadline, type MetaApiDeadlines } from './deadline.ts'
import { setWithEviction } from './eviction.ts'
import {
  CallFailure,
  notSent,
  pauseGroups,
  toBrokerReadError,
  unavailable,
  type ProviderRoute,
} from './failures.ts'
import { AccountInformation, decode, ProvisionedAccount } from './payloads.ts'
import { requests, type AccountRef, type FetchFrom, type Target } from './requests.ts'
import { createTokenGate, type TokenLimits } from './token-gate.ts'
import { createTradeOnce } from './trade.ts'
import { createTransport, type ReadSignals } from './transport.ts'

/** Base URLs are of http or https, without a slash at their ends. */
export interface MetaApiConfig {
  /** Base URL of the provisioning API, for the region of accounts whose link names none. */
  readonly provisioningUrl: string
  /** Base URL of the client API; `{region}` in it stands for the account's region. */
  readonly clientUrl: string
  /** Base URL of candles and ticks, with `{region}` likewise. */
  readonly marketDataUrl: string
  /** The tenant's token, a secret. */
  readonly providerToken: ProviderTokens['find']
  readonly clock: Clock
  /** Default: performance.now. */
  readonly stopwatch?: Stopwatch | undefined
  readonly deadlines?: Partial<MetaApiDeadlines> | undefined
  readonly limits?: Partial<TokenLimits> | undefined
  /** For accounts that cannot be read, or whose trades hang. Default 2,000 to 60,000. */
  readonly pauses?: PauseLimits | undefined
}

const regionPlaceholder = '{region}'
/** An account can be moved to another region. */
const regionKeptMs = 10 * 60_000

export type Connection = ReturnType<typeof createConnection>

export const createConnection = (config: MetaApiConfig) => {
  const {
    clock,
    provisioningUrl,
    clientUrl,
    marketDataUrl,
    pauses = { firstMs: 2_000, longestMs: 60_000 },
    stopwatch = { elapsedMs: () => performance.now() },
  } = config
  const deadlines = { ...defaultDeadlines, ...config.deadlines }
  const gate = createTokenGate(config.limits, clock, stopwatch)
  const skew = createClockSkew()
  const readPauses = createAccountPauses(pauses, stopwatch)
  const tradePauses = createAccountPauses(pauses, stopwatch)
  /** Of reads of one symbol: there are too many to remember them among the accounts. */
  const symbolPauses = createAccountPauses(pauses, stopwatch)
  const call = createTransport(clock, gate, { readPauses, symbolPauses }, skew)
  const regions = new Map<string, { readonly region: Promise<string>; readonly since: Instant }>()

  const withRouteDeadline = <A>(
    route: ProviderRoute,
    work: (signals: ReadSignals) => Promise<A>,
    callerSignal?: AbortSignal,
  ): Promise<A> => {
    const isShort = route === 'account-information' || route === 'calculate-margin'
    const ms = isShort ? deadlines.shortReadMs : deadlines.readMs
    const timeoutError = () =>
      unavailable(
        `${route}: no complete response within ${ms} ms, including the time queued behind other requests of the token`,
        { isLate: true },
      )
    return withDeadline(
      ms,
      timeoutError,
      (signal) => {
        // What waited for half of its time is not sent: a deadline that is mostly our own wait would
        // pause an account that is well, or keep one that hangs from being paused.
        const startSignal = AbortSignal.any([signal, AbortSignal.timeout(ms / 2)])
        return work({ signal, startSignal })
      },
      callerSignal,
    )
  }

  const tokenOf = async ({ owner }: AccountRef): Promise<string> => {
    const timeoutError = () =>
      notSent(
        `the tenant's provider token was not read within ${deadlines.tokenMs} ms`,
        'token_unreadable',
      )
    const found = await withDeadline(deadlines.tokenMs, timeoutError, () =>
      config.providerToken(owner.tenantId)(),
    )
    if (E.isLeft(found))
      throw notSent("the tenant's provider token cannot be read", 'token_unreadable')
    if (O.isNone(found.right)) throw notSent('the tenant has no provider token', 'token_missing')
    if (!isHeaderValue(found.right.value))
      throw notSent(
        "the tenant's provider token contains characters that an HTTP header cannot carry",
      )
    return found.right.value
  }

  /** Simultaneous reads of one account's region are one; failures are not kept. */
  const regionOf = (target: Target): Promise<string> => {
    const kept = regions.get(target.accountKey)
    const ageMs = clock.now() - (kept?.since ?? 0)
    // A clock that was set back makes an age negative.
    if (kept !== undefined && ageMs >= 0 && ageMs < regionKeptMs) return kept.region
    const region = fetchFrom(target, requests.provisionedAccount, decode(ProvisionedAccount)).then(
      (account) => account.region,
    )
    const entry = { region, since: clock.now() }
    setWithEviction(regions, target.accountKey, entry)
    region.catch(() => {
      if (regions.get(target.accountKey) === entry) regions.delete(target.accountKey)
    })
    return region
  }

  const resolveTarget = async (account: AccountRef, route: ProviderRoute): Promise<Target> => {
    const { owner, providerAccountId } = account
    const token = await tokenOf(account)
    const isOfPastPrices = pauseGroups[route] === 'past prices'
    const baseUrl = isOfPastPrices ? marketDataUrl : clientUrl
    const target: Target = {
      baseUrl,
      providerAccountId,
      token,
      limitKey: isOfPastPrices ? `market data of ${token}` : token,
      accountKey: JSON.stringify([owner.tenantId, providerAccountId]),
    }
    if (!baseUrl.includes(regionPlaceholder)) return target
    // The region of an account that the provider does not know need not be read to say so again.
    const paused = readPauses.failureOf(target.accountKey)
    if (paused?.fault.kind === 'unknown_account') throw paused
    const region = account.region ?? (await regionOf(target))
    // It becomes part of the host that receives the token.
    if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(region))
      throw notSent("the account's region is not a valid region name")
    return { ...target, baseUrl: baseUrl.replaceAll(regionPlaceholder, region) }
  }

  /** The provisioning API has limits and pauses of its own. */
  const atProvisioning = (target: Target): Target => ({
    ...target,
    baseUrl: provisioningUrl,
    limitKey: `provisioning of ${target.token}`,
    accountKey: `provisioning ${target.accountKey}`,
  })

  const fetchFrom: FetchFrom = (accountOrTarget, request, decodeBytes, callerSignal) =>
    withRouteDeadline(
      request.route,
      async (signals) => {
        const target =
          'baseUrl' in accountOrTarget
            ? accountOrTarget
            : await resolveTarget(accountOrTarget, request.route)
        const destination = request.route === 'account-region' ? atProvisioning(target) : target
        const bytes = await call(request, destination, signals).catch((failure: unknown) => {
          // As of an account that was moved to another region.
          if (failure instanceof CallFailure && failure.fault.kind === 'unknown_account')
            regions.delete(target.accountKey)
          throw failure
        })
        const decoded = decodeBytes(bytes)
        if (E.isLeft(decoded)) throw unavailable(`${request.route}: ${decoded.left}`)
        return decoded.right
      },
      callerSignal,
    )

  const readInformation = (
    accountOrTarget: AccountRef | Target,
    readFromTerminal = false,
    callerSignal?: AbortSignal,
  ): Promise<AccountInformation> =>
    fetchFrom(
      accountOrTarget,
      requests.current('account-information', readFromTerminal),
      decode(AccountInformation),
      callerSignal,
    )

  return {
    clock,
    deadlines,
    skew,
    symbolPauses,
    fetchFrom,
    readInformation,
    /** A read of a port: every failure of the work becomes an error of the port. */
    asPortRead: <A>(
      account: Pick<BrokerAccount, 'accountId'>,
      work: () => Promise<A>,
    ): TE.TaskEither<BrokerReadError, A> =>
      TE.tryCatch(work, toBrokerReadError(account, clock.now)),
    /** Rejects with a CallFailure; sends nothing to the account itself. */
    targetOf: (account: BrokerAccount) =>
      withRouteDeadline('account-region', () => resolveTarget(account, 'trade')),
    trade: createTradeOnce({
      readInformation,
      clock,
      deadlines,
      gate,
      readPauses,
      tradePauses,
      skew,
    }),
  }
}

/** Whether a header can carry it. An error about one that cannot would name it. */
export const isHeaderValue = (token: string): boolean => /^[!-~]+$/.test(token)
