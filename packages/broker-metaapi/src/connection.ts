// What every method of the adapter needs: the tenant's token, the host of the account's region, and
// reads that are over in time.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerReadError } from '@tradeport/domain/errors'
import type { Clock, ProviderTokens, Stopwatch } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import { createAccountPauses, setNewest } from './account-pauses.ts'
import type { AccountPauses, PauseLimits } from './account-pauses.ts'
import { createClockSkew } from './clock-skew.ts'
import type { ClockSkew } from './clock-skew.ts'
import { nothingSent, toBrokerReadError, unavailable } from './failures.ts'
import type { CallFailure, ProviderRoute } from './failures.ts'
import { decode, ProvisionedAccount } from './payloads.ts'
import { requests } from './requests.ts'
import type { ReadRequest, Target } from './requests.ts'
import { createTokenGate } from './token-gate.ts'
import type { TokenGate, TokenLimits } from './token-gate.ts'
import { createTransport } from './transport.ts'
import { withDeadline } from './deadline.ts'
import type { Bounded } from './deadline.ts'

/** How long things may take, in milliseconds. A read's retry is included. */
export interface MetaApiDeadlines {
  /** Of reading the tenant's token from where it is kept. Default 5,000. */
  readonly tokenMs: number
  /** Default 5,000. */
  readonly accountInformationMs: number
  /** Of any other request, each page of a history among them. Default 15,000. */
  readonly readMs: number
  /**
   * Of the connection of a trade, its TLS handshake included; nothing is sent where it takes
   * longer. Default 10,000.
   */
  readonly connectMs: number
  /**
   * Of the one request that sends an order or changes a position, from dialling to the last byte of
   * the answer. Default 60,000.
   */
  readonly tradeMs: number
  /** Of looking for an order in all of the broker's records. Default 60,000. */
  readonly lookupMs: number
  /** Of asking at what price and volume an order was filled that is known to be. Default 2,000. */
  readonly fillMs: number
}

export interface MetaApiConfig {
  /** Base URL of the provisioning API, asked for the region of accounts whose link names none. */
  readonly provisioningUrl: string
  /** Base URL of the client API; `{region}` in it stands for the account's region. */
  readonly clientUrl: string
  /** The tenant's token, a secret; none where it has none. */
  readonly providerToken: ProviderTokens['find']
  readonly clock: Clock
  /** Default: performance.now. */
  readonly stopwatch?: Stopwatch | undefined
  readonly deadlines?: Partial<MetaApiDeadlines> | undefined
  readonly limits?: Partial<TokenLimits> | undefined
  /**
   * How long an account is left alone that cannot be read, or whose trades hang. Default 2,000 to
   * 60,000.
   */
  readonly pauses?: PauseLimits | undefined
}

export interface Connection {
  readonly clock: Clock
  readonly deadlines: MetaApiDeadlines
  readonly gate: TokenGate
  readonly readPauses: AccountPauses<CallFailure>
  /** Accounts whose trades hang. */
  readonly tradePauses: AccountPauses<null>
  readonly skew: ClockSkew
  /**
   * Reads within the time of the request's route; rejects with a CallFailure.
   * @param outer ends the read early
   */
  readonly ask: <A>(
    of: BrokerAccount | Target,
    request: ReadRequest,
    decode: (bytes: Uint8Array) => E.Either<string, A>,
    outer?: AbortSignal,
  ) => Promise<A>
  /** One method of a port that reads: every failure of the work becomes an error of the port. */
  readonly reading: <A>(
    account: BrokerAccount,
    work: () => Promise<A>,
  ) => TE.TaskEither<BrokerReadError, A>
  /**
   * Where the account is asked, and with whose token; rejects with a CallFailure, before anything
   * is sent to the account.
   */
  readonly targetOf: (account: BrokerAccount) => Promise<Target>
  /** The same account at the provisioning API. */
  readonly provisioningOf: (target: Target) => Target
}

const defaultDeadlines: MetaApiDeadlines = {
  tokenMs: 5_000,
  accountInformationMs: 5_000,
  readMs: 15_000,
  connectMs: 10_000,
  tradeMs: 60_000,
  lookupMs: 60_000,
  fillMs: 2_000,
}

const regionPlace = '{region}'
/** An account can be moved to another region. */
const regionKeptMs = 10 * 60_000

/** Nothing is sent before it is asked for. Throws where a base URL is none of http or https. */
export const createConnection = (config: MetaApiConfig): Connection => {
  const {
    clock,
    pauses = { firstMs: 2_000, longestMs: 60_000 },
    stopwatch = { elapsedMs: () => performance.now() },
  } = config
  const deadlines = { ...defaultDeadlines, ...config.deadlines }
  const provisioningUrl = requireBaseUrl(config.provisioningUrl)
  const clientUrl = requireBaseUrl(config.clientUrl)
  const gate = createTokenGate(config.limits, clock, stopwatch)
  const skew = createClockSkew()
  const readPauses = createAccountPauses<CallFailure>(pauses, stopwatch)
  const call = createTransport({ clock, gate, pauses: readPauses, skew })
  const regions = new Map<string, { readonly region: Promise<string>; readonly since: Instant }>()

  /** Work that must be over in time; it rejects with a CallFailure when it is not. */
  const bounded = <A>(route: ProviderRoute, work: Bounded<A>, outer?: AbortSignal): Promise<A> => {
    const ms = route === 'account-information' ? deadlines.accountInformationMs : deadlines.readMs
    return withDeadline(
      ms,
      () => unavailable(`${route}: no whole answer within ${ms} ms`, { isOfAccount: true }),
      work,
      outer,
    )
  }

  const tokenOf = async ({ owner }: BrokerAccount): Promise<string> => {
    const tooLate = () =>
      nothingSent(`the tenant's provider token was not read within ${deadlines.tokenMs} ms`)
    const found = await withDeadline(deadlines.tokenMs, tooLate, () =>
      config.providerToken(owner.tenantId)(),
    )
    if (E.isLeft(found)) throw nothingSent("the tenant's provider token cannot be read")
    if (O.isNone(found.right)) throw nothingSent('the tenant has no provider token')
    if (!isHeaderValue(found.right.value))
      throw nothingSent("the tenant's provider token is not one")
    return found.right.value
  }

  const provisioningOf = (target: Target): Target => ({
    ...target,
    baseUrl: provisioningUrl,
    account: `provisioning ${target.account}`,
  })

  /** Simultaneous questions for one account are one; failures are not kept. */
  const regionOf = (target: Target): Promise<string> => {
    const key = target.account
    const kept = regions.get(key)
    const ageMs = clock.now() - (kept?.since ?? 0)
    // A clock that was set back makes an age negative.
    if (kept !== undefined && ageMs >= 0 && ageMs < regionKeptMs) return kept.region
    const region = ask(
      provisioningOf(target),
      requests.provisionedAccount,
      decode(ProvisionedAccount),
    ).then((account) => account.region)
    const entry = { region, since: clock.now() }
    setNewest(regions, key, entry)
    region.catch(() => {
      if (regions.get(key) === entry) regions.delete(key)
    })
    return region
  }

  const locate = async (account: BrokerAccount): Promise<Target> => {
    const { owner, providerAccountId } = account
    const key = JSON.stringify([owner.tenantId, providerAccountId])
    const target: Target = {
      baseUrl: clientUrl,
      providerAccountId,
      token: await tokenOf(account),
      account: key,
    }
    if (!clientUrl.includes(regionPlace)) return target
    const region = account.region ?? (await regionOf(target))
    // It becomes part of the host that the token is sent to.
    if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(region))
      throw nothingSent("the account's region is not one")
    return { ...target, baseUrl: clientUrl.replaceAll(regionPlace, region) }
  }

  const ask: Connection['ask'] = (of, request, decodeBytes, outer) =>
    bounded(
      request.route,
      async (signal) => {
        const decoded = decodeBytes(
          await call(request, 'baseUrl' in of ? of : await locate(of), signal),
        )
        if (E.isLeft(decoded)) throw unavailable(`${request.route}: ${decoded.left}`)
        return decoded.right
      },
      outer,
    )

  return {
    clock,
    deadlines,
    gate,
    readPauses,
    tradePauses: createAccountPauses<null>(pauses, stopwatch),
    skew,
    ask,
    reading: (account, work) => TE.tryCatch(work, toBrokerReadError(account, clock.now)),
    targetOf: (account) => bounded('account-region', () => locate(account)),
    provisioningOf,
  }
}

/** Whether a header can carry it. One that cannot would be named in the complaint. */
export const isHeaderValue = (token: string): boolean => /^[!-~]+$/.test(token)

const requireBaseUrl = (template: string): string => {
  const url = URL.parse(template.replaceAll(regionPlace, 'region'))
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError(`not a base URL of http or https: ${template}`)
  return template.replace(/\/+$/, '')
}
