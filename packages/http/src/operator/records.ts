// The operator's records: as entries of the document of POST /operator/v1/apply, and as they are
// listed.
import { apiKeyRequirement, isApiKey, plans, scopes } from '@tradeport/domain/access'
import {
  accountPurposes,
  accountStatuses,
  isDemo,
  thresholdSeverities,
  thresholdTypes,
} from '@tradeport/domain/accounts'
import { instruments } from '@tradeport/domain/market'
import {
  challengeStatuses,
  emptyDocument,
  type ListedAccount,
  marketDataFeedId,
  type OperatorDocument,
  type StoredMarketDataFeed,
} from '@tradeport/domain/operator'
import {
  parseAccountId,
  parseEmailAddress,
  parseTenantId,
  parseUserId,
} from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import { map as mapRecord } from 'fp-ts/lib/Record.js'
import { parseNetworks } from '../networks.ts'
import {
  accountId as linkedAccountId,
  instant as moment,
  instantAt,
  orderSymbol,
} from '../fields.ts'
import type { IsOn } from '../route.ts'
import {
  type Optional,
  anything,
  mapInput,
  decimal,
  type Fields,
  flag,
  input,
  list,
  nullable,
  object,
  oneOf,
  optional,
  parsedString,
  partial,
  record,
  request,
  type Schema,
  text,
  type TypeOf,
  whole,
  withDescription,
} from '../schema.ts'

/** Fields of an entry: left alone when they are left out, unset when they are null. */
const settings = <F extends Fields>(fields: F) =>
  partial(mapRecord((field: Schema<unknown>) => nullable(field))(fields)) as {
    readonly [Name in keyof F]: Schema<TypeOf<F[Name]> | null> & Optional
  }

const visible = (
  description: string,
  maxLength: number,
  example: string,
  { minLength = 1, ...more }: { readonly minLength?: number; readonly writeOnly?: true } = {},
) =>
  text(
    description,
    example,
    { minLength, maxLength, pattern: '^[!-~]+$', ...more },
    `${minLength} to ${maxLength} visible ASCII characters`,
  )

export const name = text(
  'A name.',
  'Main',
  { minLength: 1, maxLength: 255, pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]+$` },
  '1 to 255 characters without control characters',
)
const operatorId = {
  minLength: 1,
  maxLength: 128,
  pattern: String.raw`^(?!\.{1,2}$)[!-~]+$`,
}
const idForm = '1 to 128 visible ASCII characters, not . or ..'
export const tenantId = parsedString(
  `a tenant id: ${idForm}`,
  parseTenantId,
  'The id of a tenant.',
  'acme',
  operatorId,
)
export const userId = parsedString(
  `a user id: ${idForm}`,
  parseUserId,
  'The id of a user.',
  'u-1',
  operatorId,
)
const id = visible('Its id.', 128, 'k-1')
const accountId = parsedString(
  'the UUID of an account',
  parseAccountId,
  'The id of an account.',
  String(linkedAccountId.example),
  {
    format: 'uuid',
  },
)
/** A shorter one could be guessed. */
const token = visible(
  'The token; generated when a new entry has none.',
  8_192,
  'an-access-token-of-your-own',
  { minLength: 20, writeOnly: true },
)
const key = parsedString(
  apiKeyRequirement,
  O.fromPredicate(isApiKey),
  'The key; generated when a new entry has none.',
  'tp_live_aKeyThatTheOperatorChose1',
  { writeOnly: true },
)
const scope = oneOf(scopes, 'A scope.', 'trading:read')
const network = parsedString(
  'an IPv4 or IPv6 address, or a CIDR such as 10.0.0.0/8',
  (entry) => (parseNetworks([entry]) === undefined ? O.none : O.some(entry)),
  'An address or a CIDR.',
  '10.0.0.0/8',
)
const instant = (description: string) => instantAt('start', description)
const money = decimal('In the currency of the account.', 10_000)
const lots = decimal('Lots.', 5, { minimum: 0 })
const count = whole('How many.', 10, { minimum: 0 })
const figures = { balance: money, equity: money, margin: money }

const userFields = {
  tenantId,
  email: parsedString(
    'an e-mail address, without a display name',
    parseEmailAddress,
    'Where notices go.',
    'owner@example.com',
  ),
  plan: oneOf(plans, 'The plan, which sets the request limits.'),
}
const accountFields = {
  userId,
  name,
  broker: name,
  brokerType: name,
  accountNumber: name,
  server: name,
  purpose: oneOf(accountPurposes, 'What it is for.'),
  isDemo: flag('Whether it is a demo account.'),
  currency: name,
  status: oneOf(accountStatuses, 'Whether the broker can be read.'),
  ...figures,
  providerAccountId: name,
  region: name,
  createdAt: instant('When the account was created.'),
}
const granted = {
  userId,
  scopes: list(scope, 'Its scopes.'),
  expiresAt: instant('When it expires.'),
  enabled: flag('Whether it may be used.'),
}
const keyFields = {
  ...granted,
  name,
  ipAllowlist: list(network, 'Where it may be used from; everywhere when empty.'),
}
const tokenFields = { ...granted, applicationId: name }
const deskLimits = {
  maxOpenLots: withDescription(lots, 'Lots that may be open, buys and sells added up.'),
  maxOpenPositions: withDescription(count, 'Positions that may be open.'),
  allowedSymbols: list(orderSymbol, 'Symbols that may be ordered; none where it is empty.'),
}
const deskFields = { tenantId, accounts: list(accountId, 'Its accounts.') }
const traderLimits = {
  ...deskLimits,
  maxLotsPerOrder: withDescription(lots, 'Lots of an order.'),
  approvalAboveLots: withDescription(lots, 'An order of more lots is refused.'),
}
const challengeStart = instant('When the challenge started.')
const challengeFields = { status: oneOf(challengeStatuses, 'The status of the challenge.') }

const thresholdKey = {
  type: oneOf(thresholdTypes, 'What is compared.'),
  severity: oneOf(thresholdSeverities, 'The severity of a breach.'),
}
const thresholdFields = {
  value: decimal('In the currency of the account, or in percent.', 9_000, { minimum: 0 }),
  halt: flag('Whether a breach halts the account, with the capability trading-tools.', false),
  cancelOrders: flag('Whether that halt also cancels the open orders of the account.', false),
}

const spellings = input(
  "The broker's spelling of listed instruments, where it is not found by the usual rule.",
  Object.fromEntries(
    instruments.map(({ symbol }) => [
      symbol,
      optional(
        text(`The broker's spelling of ${symbol}.`, undefined, { minLength: 1, maxLength: 64 }),
      ),
    ]),
  ),
) as Schema<StoredMarketDataFeed['symbols']>

/** Names every field of a section's entries, so that none is forgotten. */
type EntryFields<S extends keyof OperatorDocument> = {
  readonly [Field in Exclude<keyof OperatorDocument[S][number], 'removed' | 'new'>]: Schema<unknown>
}

const entryFields = {
  tenants: {
    id: tenantId,
    ...settings({
      name,
      providerToken: visible('The token of the tenant at the provider.', 8_192, 'a-secret', {
        writeOnly: true,
      }),
    }),
  },
  users: {
    id: userId,
    ...settings(userFields),
  },
  accounts: {
    id: accountId,
    ...settings(accountFields),
  },
  apiKeys: {
    id,
    ...settings({ ...keyFields, key }),
  },
  accessTokens: {
    id,
    ...settings({ ...tokenFields, token }),
  },
  desks: {
    id,
    ...settings({
      ...deskFields,
      limits: input('The limits of a desk.', settings(deskLimits)),
    }),
  },
  traderLimits: {
    accountId,
    ...settings({ limits: input('The limits of a trader.', settings(traderLimits)) }),
  },
  challenges: {
    accountId,
    startedAt: challengeStart,
    ...settings(challengeFields),
  },
  balanceSnapshots: {
    accountId,
    timestamp: instant('When the figures were recorded.'),
    ...settings({ ...figures, freeMargin: money }),
  },
  riskThresholds: {
    accountId,
    ...thresholdKey,
    ...settings(thresholdFields),
  },
  halts: {
    accountId,
    ...settings({
      reason: text('Why, for the owner of the account.', 'under review', {
        maxLength: 200,
      }),
      cancelOrders: flag('Whether it also cancels the open orders of the account.', false),
    }),
  },
} satisfies { readonly [S in Exclude<keyof OperatorDocument, 'marketDataFeed'>]: EntryFields<S> }

const section = <F extends Fields>(title: string, fields: F) =>
  optional(
    list(
      request(title, 'A field that is left out is left alone, one that is null is unset.', {
        ...fields,
        ...partial({
          removed: flag('Whether to remove it.'),
          new: flag(
            'The document is refused where this is true and the record is there, or false and it is not.',
          ),
        }),
      }),
      'Entries.',
    ),
  )

/** The sections of capabilities. */
const capabilityOf: ReadonlyMap<string, string> = new Map([
  ['riskThresholds', 'events'],
  ['halts', 'trading-tools'],
  ['marketDataFeed', 'market-data'],
])

/** A whole document; sections that it leaves out are empty. */
export const operatorDocument = (isOn: IsOn): Schema<OperatorDocument> => {
  const sections = documentSections(isOn)
  return {
    ...sections,
    validate: (value, context) =>
      pipe(
        sections.validate(value, context),
        E.mapLeft((errors) =>
          errors.map((error) => {
            const section = error.context.at(-1)?.key ?? ''
            const capability = error.context.length === 2 ? capabilityOf.get(section) : undefined
            if (capability === undefined || isOn(capability)) return error
            return {
              ...error,
              message: `${section} needs the capability ${capability}, which is off: add it to CAPABILITIES, or leave the section out`,
            }
          }),
        ),
      ),
  }
}

const documentSections = (isOn: IsOn): Schema<OperatorDocument> =>
  mapInput(
    request('OperatorDocument', 'Records to create, change or remove.', {
      tenants: section('TenantEntry', entryFields.tenants),
      users: section('UserEntry', entryFields.users),
      accounts: section('AccountEntry', entryFields.accounts),
      apiKeys: section('ApiKeyEntry', entryFields.apiKeys),
      accessTokens: section('AccessTokenEntry', entryFields.accessTokens),
      desks: section('DeskEntry', entryFields.desks),
      traderLimits: section('TraderLimitsEntry', entryFields.traderLimits),
      challenges: section('ChallengeEntry', entryFields.challenges),
      balanceSnapshots: section('BalanceSnapshotEntry', entryFields.balanceSnapshots),
      ...(isOn('events') && {
        riskThresholds: section('RiskThresholdEntry', entryFields.riskThresholds),
      }),
      ...(isOn('trading-tools') && {
        halts: section('HaltEntry', entryFields.halts),
      }),
      ...(isOn('market-data') && {
        ...settings({
          marketDataFeed: input(
            'Where the prices of the listed instruments come from; null: nowhere.',
            { accountId, symbols: optional(spellings) },
          ),
        }),
      }),
    }),
    ({ marketDataFeed: feed, ...sent }): OperatorDocument => {
      const document = { ...emptyDocument, ...sent }
      if (feed === undefined) return document
      // The feed is one value: what it leaves out is not kept from before.
      const entry = feed === null ? { removed: true } : { symbols: {}, ...feed }
      return { ...document, marketDataFeed: [{ id: marketDataFeedId, ...entry }] }
    },
  )

export const tenantFields = {
  id: tenantId,
  name,
  hasProviderToken: flag('Whether a provider token is stored.'),
}
export const user = record('User', 'A user.', {
  id: userId,
  ...userFields,
  email: text('Where notices go.', 'owner@example.com'),
})
export const apiKey = record('ApiKey', 'An API key, without the key.', {
  id,
  ...keyFields,
  expiresAt: nullable(granted.expiresAt, null),
})
export const accessToken = record('AccessToken', 'A stored access token, without the token.', {
  id,
  ...tokenFields,
  expiresAt: nullable(granted.expiresAt, null),
})
export const desk = record('Desk', 'A desk.', {
  id,
  ...deskFields,
  limits: anything('The limits of the desk.', { maxOpenLots: 50 }),
})
export const account = (hasEvents: boolean) =>
  record(
    'ListedAccount',
    'An account as it is stored, with its limits and challenges.',
    {
      id: accountId,
      tenantId,
      ...accountFields,
      broker: nullable(name),
      providerAccountId: nullable(name),
      region: nullable(name),
      lastReadAt: nullable(moment),
      updatedAt: moment,
      limits: anything('The limits of the trader; null when none were set.', {
        maxLotsPerOrder: 5,
      }),
      challenges: list(
        object('A challenge.', { startedAt: challengeStart, ...challengeFields }),
        'Newest first; the first counts.',
      ),
      ...(hasEvents && {
        riskThresholds: list(
          object('A risk threshold, and its last check.', {
            ...thresholdKey,
            ...thresholdFields,
            breached: flag('Whether it is breached, and not armed again since.', false),
            reference: nullable(
              decimal(
                "The day's first balance, or the highest equity; null of other types.",
                10_000,
              ),
            ),
            checkedAt: nullable(instant('When it was last checked, to a minute.')),
          }),
          'By type and severity.',
        ),
      }),
    },
    ({ account: stored, ...rest }: ListedAccount) => ({
      ...stored,
      ...stored.figures,
      ...stored.owner,
      isDemo: isDemo(stored),
      providerAccountId: stored.provider?.providerAccountId ?? null,
      region: stored.provider?.region ?? null,
      ...rest,
    }),
  )

/** The fields of an account entry that the provider knows. */
export const providerAccount = record(
  'ProviderAccount',
  'An account as the provider describes it, in the fields of the document.',
  {
    name,
    accountNumber: name,
    server: name,
    brokerType: name,
    region: name,
    broker: nullable(name),
    currency: nullable(name),
    isDemo: accountFields.isDemo,
  },
)
