// What every method of the adapter needs: the tenant's token, the host of the account's region, the endpoints and how long each may take.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount, BrokerReadError, Clock, ProviderTokens, Stopwatch } from '@tradeport/domain'
import { createAccountPauses } from './account-pauses.ts'
import type { AccountPauses, PauseLimits } from './account-pauses.ts'
import { createMetaApiClient } from './client.ts'
import type { MetaApiClient } from './client.ts'
import { createClockSkew } from './clock-skew.ts'
import type { ClockSkew } from './clock-skew.ts'
import { withDeadline } from './deadline.ts'
import type { Bounded } from './deadline.ts'
import { nothingSent, toBrokerReadError, tooSlow, unusable } from './failures.ts'
import type { CallFailure, ProviderRoute } from './failures.ts'
import { decode, ProvisionedAccount } from './payloads.ts'
import { createRegions } from './regions.ts'
import { createTokenGate, defaultTokenLimits } from './token-gate.ts'
import type { TokenGate, TokenLimits } from './token-gate.ts'
import { createTransport } from './transport.ts'
import type { ProviderCall, Target } from './transport.ts'

/** How long things may take, in milliseconds. A read's retry is included. */
export interface MetaApiDeadlines {
  /** Of reading the tenant's token from where it is kept. Default 5,000. */
  readonly tokenMs: number
  /** Default 5,000. */
  readonly accountInformationMs: number
  /** Of any other request, each page of a history among them. Default 15,000. */
  readonly readMs: number
  /** Of the connection of a trade, its TLS handshake included; nothing is sent where it takes longer. Default 10,000. */
  readonly connectMs: number
  /** Of the one request that sends an order or changes a position, from dialling to the last byte of the answer. Default 60,000. */
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
  /** How long an account is left alone that cannot be read, or whose trades hang. Default 2,000 to 60,000. */
  readonly pauses?: PauseLimits | undefined
  /** Receives every request to the provider, a retry included, without any secret. It must not throw. */
  readonly onCall?: ((call: ProviderCall) => void) | undefined
}

export interface Connection {
  readonly client: MetaApiClient
  readonly clock: Clock
  readonly deadlines: MetaApiDeadlines
  readonly gate: TokenGate
  /** Accounts whose trades hang. */
  readonly readPauses: AccountPauses<CallFailure>
  readonly tradePauses: AccountPauses<null>
  readonly skew: ClockSkew
  /** Where the account is asked, and with whose token; rejects with a CallFailure, before anything is sent to the account. */
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

const defaultPauses: PauseLimits = { firstMs: 2_000, longestMs: 60_000 }

const regionPlace = '{region}'

/** Nothing is sent before it is asked for. Throws where a base URL is none of http or https. */
export const createConnection = (config: MetaApiConfig): Connection => {
  const { clock } = config
  const deadlines = { ...defaultDeadlines, ...config.deadlines }
  const provisioningUrl = requireBaseUrl(config.provisioningUrl)
  const clientUrl = requireBaseUrl(config.clientUrl)
  const stopwatch = config.stopwatch ?? { elapsedMs: () => performance.now() }
  const pauseLimits = config.pauses ?? defaultPauses
  const gate = createTokenGate({ ...defaultTokenLimits, ...config.limits }, clock, stopwatch)
  const skew = createClockSkew()
  const readPauses = createAccountPauses<CallFailure>(pauseLimits, stopwatch)
  const client = createMetaApiClient(createTransport({ clock, gate, pauses: readPauses, skew, onCall: config.onCall }))
  const regions = createRegions(clock)

  const tokenOf = async ({ owner }: BrokerAccount): Promise<string> => {
    const tooLate = () => nothingSent(`the tenant's provider token was not read within ${deadlines.tokenMs} ms`)
    const found = await withDeadline(deadlines.tokenMs, tooLate, () => config.providerToken(owner.tenantId)())
    if (E.isLeft(found)) throw nothingSent("the tenant's provider token cannot be read")
    if (O.isNone(found.right)) throw nothingSent('the tenant has no provider token')
    // A header cannot carry anything else, and would name the token in its complaint.
    if (!/^[!-~]+$/.test(found.right.value)) throw nothingSent("the tenant's provider token is not one")
    return found.right.value
  }

  const provisioningOf = (target: Target): Target => ({ ...target, baseUrl: provisioningUrl, account: `provisioning ${target.account}` })

  const askRegion = (target: Target): Promise<string> =>
    bounded('account-region', deadlines.readMs, async (signal) => {
      const bytes = await client.provisionedAccount(provisioningOf(target), signal)
      return read('account-region', decode(ProvisionedAccount)(bytes)).region
    })

  const targetOf = async (account: BrokerAccount): Promise<Target> => {
    const { owner, providerAccountId } = account
    const key = JSON.stringify([owner.tenantId, providerAccountId])
    const target: Target = { baseUrl: clientUrl, providerAccountId, token: await tokenOf(account), account: key }
    if (!clientUrl.includes(regionPlace)) return target
    const region = account.region ?? (await regions.find(key, () => askRegion(target)))
    // It becomes part of the host that the token is sent to.
    if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(region)) throw nothingSent("the account's region is not one")
    return { ...target, baseUrl: clientUrl.replaceAll(regionPlace, region) }
  }

  const tradePauses = createAccountPauses<null>(pauseLimits, stopwatch)
  return { client, clock, deadlines, gate, readPauses, tradePauses, skew, targetOf, provisioningOf }
}

/** One method of a port that reads: bounded work whose every failure becomes an error of the port. */
export const readingOver =
  ({ clock }: Connection) =>
  <A>(account: BrokerAccount, route: ProviderRoute, ms: number, work: Bounded<A>): TE.TaskEither<BrokerReadError, A> =>
    TE.tryCatch(() => bounded(route, ms, work), toBrokerReadError(account, clock.now))

/** Work that must be over in time; it rejects with a CallFailure when it is not. */
export const bounded = <A>(route: ProviderRoute, ms: number, work: Bounded<A>, outer?: AbortSignal): Promise<A> =>
  withDeadline(ms, () => tooSlow(route, ms), work, outer)

/** What was read, or a throw that says why it cannot be used. */
export const read = <A>(route: ProviderRoute, result: E.Either<string, A>): A => {
  if (E.isLeft(result)) throw unusable(route, result.left)
  return result.right
}

const requireBaseUrl = (template: string): string => {
  const url = URL.parse(template.replaceAll(regionPlace, 'region'))
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError(`not a base URL of http or https: ${template}`)
  return template.replace(/\/+$/, '')
}
