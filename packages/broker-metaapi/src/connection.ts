// What every method of the adapter stands on: the tenant's token, the host of the account's region, the endpoints and how long each may take.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount, BrokerReadError, Clock, ProviderTokens } from '@tradeport/domain'
import { createMetaApiClient } from './client.ts'
import type { MetaApiClient, Target } from './client.ts'
import { withDeadline } from './deadline.ts'
import type { Bounded } from './deadline.ts'
import { nothingSent, toBrokerReadError, tooSlow, unusable } from './failures.ts'
import type { ProviderRoute } from './failures.ts'
import { decode, ProvisionedAccount } from './payloads.ts'
import { createRegions } from './regions.ts'
import { createTransport } from './transport.ts'
import type { ProviderCall } from './transport.ts'

/** How long things may take, in milliseconds. A read's retry is included. */
export interface MetaApiDeadlines {
  /** Default 5,000. */
  readonly accountInformationMs: number
  /** Of any other request, each page of a history among them. Default 15,000. */
  readonly readMs: number
  /** Of a whole history. Default 120,000. */
  readonly historyMs: number
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
  readonly deadlines?: Partial<MetaApiDeadlines> | undefined
  /** Told of every request to the provider, a retry included, without any secret. It must not throw. */
  readonly onCall?: ((call: ProviderCall) => void) | undefined
}

export interface Connection {
  readonly client: MetaApiClient
  readonly clock: Clock
  readonly deadlines: MetaApiDeadlines
  /** Where the account is asked, and with whose token; rejects with a CallFailure, before anything is sent to the account. */
  readonly targetOf: (account: BrokerAccount) => Promise<Target>
}

const defaultDeadlines: MetaApiDeadlines = {
  accountInformationMs: 5_000,
  readMs: 15_000,
  historyMs: 120_000,
  tradeMs: 60_000,
  lookupMs: 60_000,
  fillMs: 2_000,
}

const regionPlace = '{region}'

/** Nothing is sent before it is asked for. Throws where a base URL is none of http or https. */
export const createConnection = (config: MetaApiConfig): Connection => {
  const { clock } = config
  const deadlines = { ...defaultDeadlines, ...config.deadlines }
  const provisioningUrl = requireBaseUrl(config.provisioningUrl)
  const clientUrl = requireBaseUrl(config.clientUrl)
  const client = createMetaApiClient(createTransport(config))
  const regions = createRegions(clock)

  const tokenOf = async ({ owner }: BrokerAccount): Promise<string> => {
    const found = await config.providerToken(owner.tenantId)()
    if (E.isLeft(found)) throw nothingSent("the tenant's provider token cannot be read")
    if (O.isNone(found.right)) throw nothingSent('the tenant has no provider token')
    // A header cannot carry anything else, and would name the token in its complaint.
    if (!/^[!-~]+$/.test(found.right.value)) throw nothingSent("the tenant's provider token is not one")
    return found.right.value
  }

  const askRegion = ({ providerAccountId }: BrokerAccount, token: string): Promise<string> =>
    bounded('account-region', deadlines.readMs, async (signal) => {
      const target = { baseUrl: provisioningUrl, providerAccountId, token }
      const { region } = read('account-region', decode(ProvisionedAccount)(await client.provisionedAccount(target, signal)))
      return region
    })

  const targetOf = async (account: BrokerAccount): Promise<Target> => {
    const { owner, providerAccountId } = account
    const token = await tokenOf(account)
    if (!clientUrl.includes(regionPlace)) return { baseUrl: clientUrl, providerAccountId, token }
    const key = JSON.stringify([owner.tenantId, providerAccountId])
    const region = account.region ?? (await regions.find(key, () => askRegion(account, token)))
    // It becomes part of the host that the token is sent to.
    if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(region)) throw nothingSent("the account's region is not one")
    return { baseUrl: clientUrl.replaceAll(regionPlace, region), providerAccountId, token }
  }

  return { client, clock, deadlines, targetOf }
}

/** One method of a port that reads: bounded work whose every failure is told in the port's words. */
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
