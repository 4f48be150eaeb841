// The broker port over MetaApi's REST (specification 4.1, 4.3, 4.5): tenant's token and account's region in, our own words out.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { dayMs, historyTooLarge, maxHistoryDeals } from '@tradeport/domain'
import type { Broker, BrokerAccount, Clock, DealsReading, HistoryTooLarge, ProviderTokens } from '@tradeport/domain'
import { createMetaApiClient } from './client.ts'
import type { Target } from './client.ts'
import { withDeadline } from './deadline.ts'
import type { Bounded } from './deadline.ts'
import { nothingSent, toBrokerReadError, tooSlow, unusable } from './failures.ts'
import type { ProviderRoute } from './failures.ts'
import { pageSize, readHistory, tooManyDeals } from './history.ts'
import { AccountInformation, decode, Margin, PositionRows, ProvisionedAccount } from './payloads.ts'
import { createRegions } from './regions.ts'
import { accountReadingOf } from './translate/account.ts'
import { positionsOf } from './translate/positions.ts'
import { createTransport } from './transport.ts'
import type { ProviderCall } from './transport.ts'

/** How long a read may take, in milliseconds, a retry included. */
export interface MetaApiDeadlines {
  /** Default 5,000. */
  readonly accountInformationMs: number
  /** Of any other request, each page of a history among them. Default 15,000. */
  readonly readMs: number
  /** Of a whole history. Default 120,000. */
  readonly historyMs: number
}

export interface MetaApiBrokerConfig {
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

const defaultDeadlines: MetaApiDeadlines = { accountInformationMs: 5_000, readMs: 15_000, historyMs: 120_000 }

const regionPlace = '{region}'

/**
 * A broker that is read through MetaApi. Nothing is cached but regions, for ten minutes; nothing is sent before it is asked for.
 * Throws where a base URL is none of http or https.
 */
export const createMetaApiBroker = (config: MetaApiBrokerConfig): Broker => {
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

  const history = async (account: BrokerAccount, signal: AbortSignal): Promise<E.Either<HistoryTooLarge, DealsReading>> => {
    const target = await targetOf(account)
    const readAt = clock.now()
    // Fixed before the first page, so that deals made meanwhile move nothing. The end is not included, and a broker's clock may be ahead.
    const window = { start: 0, end: readAt + dayMs, limit: pageSize }
    const deals = await readHistory((offset) =>
      bounded('history-deals', deadlines.readMs, (page) => client.historyDeals(target, { ...window, offset }, page), signal),
    )
    return deals === tooManyDeals ? E.left(historyTooLarge(account.accountId, maxHistoryDeals)) : E.right({ deals, readAt })
  }

  /** One method of the port: bounded work whose every failure is told in the port's words. */
  const reading = <A>(account: BrokerAccount, route: ProviderRoute, ms: number, work: Bounded<A>) =>
    TE.tryCatch(() => bounded(route, ms, work), toBrokerReadError(account, clock.now))

  return {
    source: 'metaapi',

    accountInformation: (account) =>
      reading(account, 'account-information', deadlines.accountInformationMs, async (signal) => {
        const bytes = await client.accountInformation(await targetOf(account), signal)
        return accountReadingOf(read('account-information', decode(AccountInformation)(bytes)), clock.now())
      }),

    positions: (account) =>
      reading(account, 'positions', deadlines.readMs, async (signal) => {
        const rows = read('positions', decode(PositionRows)(await client.positions(await targetOf(account), signal)))
        return { positions: read('positions', positionsOf(rows)), readAt: clock.now() }
      }),

    deals: (account) =>
      pipe(
        reading(account, 'history-deals', deadlines.historyMs, (signal) => history(account, signal)),
        TE.flatMapEither((deals) => deals),
      ),

    requiredMargin: (account, query) =>
      reading(account, 'calculate-margin', deadlines.readMs, async (signal) => {
        const bytes = await client.calculateMargin(await targetOf(account), query, signal)
        return O.fromNullable(read('calculate-margin', decode(Margin)(bytes)).margin)
      }),
  }
}

const bounded = <A>(route: ProviderRoute, ms: number, work: Bounded<A>, outer?: AbortSignal): Promise<A> =>
  withDeadline(ms, () => tooSlow(route, ms), work, outer)

const read = <A>(route: ProviderRoute, result: E.Either<string, A>): A => {
  if (E.isLeft(result)) throw unusable(route, result.left)
  return result.right
}

const requireBaseUrl = (template: string): string => {
  const url = URL.parse(template.replaceAll(regionPlace, 'region'))
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError(`not a base URL of http or https: ${template}`)
  return template.replace(/\/+$/, '')
}
