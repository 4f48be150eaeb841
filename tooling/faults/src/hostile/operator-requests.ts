// Hostile requests to the operator's listener, drawn from its OpenAPI document, with good and bad tokens and with operator's documents of which some fields have
// another type. Everything that they name belongs to this run, so that the callers of the API keep their keys.
import * as fc from 'fast-check'
import { bytesOf } from './request.ts'
import type { HostileBody, HostileRequest } from './request.ts'
import { queryOf, textOfBody } from './requests.ts'
import type { Operation } from './requests.ts'
import { nastyMember, nastyText } from './values.ts'

const numbered = (name: string): readonly string[] => [1, 2, 3].map((index) => `"hostile-${name}-${index}"`)
const accounts = [1, 2, 3].map((index) => `"00000000-0000-4000-8000-00000000000${index}"`)
const times = ['"2026-01-05T00:00:00.000Z"', '"2026-10-01"', '"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59.999Z"', 'null']
const amounts = ['10000', '0', '-5.25', '1e15', '0.1']

type Fields = Readonly<Record<string, readonly string[]>>

const deskLimits = `{"maxOpenLots":5,"maxOpenPositions":10,"allowedSymbols":["EURUSD"]}`

const sections: Readonly<Record<string, Fields>> = {
  tenants: {
    id: numbered('tenant'),
    name: ['"Fuzz"', '"💥"'],
    providerToken: ['"provider-secret-token"', 'null'],
    removed: ['false', 'true'],
  },
  users: {
    id: numbered('user'),
    tenantId: numbered('tenant'),
    email: ['"owner@example.com"', 'null'],
    plan: ['"free"', '"pro"', '"enterprise"'],
    removed: ['false', 'true'],
  },
  accounts: {
    id: accounts,
    userId: numbered('user'),
    name: ['"Main"'],
    broker: ['"Broker"', 'null'],
    brokerType: ['"mt5"', '"mt4"', '"paper"', '"other"'],
    accountNumber: ['"1"'],
    server: ['"S"'],
    purpose: ['"trading"', '"introducing_broker"', '"trade_copier"'],
    isDemo: ['true', 'false', 'null'],
    currency: ['"USD"', '"JPY"'],
    status: ['"connected"', '"disconnected"', '"error"', '"syncing"'],
    balance: amounts,
    equity: amounts,
    margin: amounts,
    providerAccountId: ['"p-1"', 'null'],
    region: ['"new-york"', 'null'],
    createdAt: times,
    removed: ['false', 'true'],
  },
  apiKeys: {
    id: numbered('key'),
    userId: numbered('user'),
    name: ['"bot"'],
    key: ['"tp_live_only_for_automated_tests_hostile_operator_1"', '"tp_live_only_for_automated_tests_hostile_operator_2"'],
    scopes: ['["accounts:read"]', '[]', '["trading:read","trading:read"]'],
    ipAllowlist: ['["127.0.0.1/32"]', '[]', '["::/0","10.0.0.0/8"]'],
    expiresAt: times,
    enabled: ['true', 'false'],
    removed: ['false', 'true'],
  },
  accessTokens: {
    id: numbered('token'),
    userId: numbered('user'),
    applicationId: ['"app"'],
    token: ['"hostile-operator-token-1"', '"hostile-operator-token-2"'],
    scopes: ['["trading:read"]'],
    expiresAt: times,
    enabled: ['true', 'false'],
    removed: ['false', 'true'],
  },
  desks: {
    id: numbered('desk'),
    tenantId: numbered('tenant'),
    accounts: [`[${accounts[0]}]`, '[]'],
    limits: [deskLimits, '{}', 'null'],
    removed: ['false', 'true'],
  },
  traderLimits: {
    accountId: accounts,
    limits: [deskLimits, '{}', 'null', '{"maxLotsPerOrder":1,"approvalAboveLots":null}'],
    removed: ['false', 'true'],
  },
  challenges: {
    accountId: accounts,
    startedAt: times.slice(0, -1),
    status: ['"active"', '"passed"', '"failed"'],
    removed: ['false', 'true'],
  },
  balanceSnapshots: {
    accountId: accounts,
    timestamp: times.slice(0, -1),
    balance: amounts,
    equity: amounts,
    margin: amounts,
    freeMargin: amounts,
    removed: ['false', 'true'],
  },
}

const field = (name: string, good: readonly string[], badness: number): fc.Arbitrary<string> => {
  const kept = name === 'id' || name.endsWith('Id') || name === 'startedAt' || name === 'timestamp'
  return fc.oneof(
    { weight: 100, arbitrary: fc.constantFrom(...good).map((text) => `"${name}":${text}`) },
    { weight: kept ? badness : 60, arbitrary: fc.constant('') },
    { weight: badness, arbitrary: nastyMember.map((text) => `"${name}":${text}`) },
  )
}

const entry = (fields: Fields, badness: number): fc.Arbitrary<string> =>
  fc
    .tuple(...Object.entries(fields).map(([name, good]) => field(name, good, badness)))
    .map((all) => `{${all.filter((text) => text !== '').join(',')}}`)

const section = (name: string, fields: Fields, badness: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    {
      weight: 4,
      arbitrary: fc.array(entry(fields, badness), { minLength: 1, maxLength: 3 }).map((entries) => `"${name}":[${entries.join(',')}]`),
    },
    { weight: badness === 0 ? 0 : 1, arbitrary: nastyMember.map((text) => `"${name}":${text}`) },
  )

const base = `"tenants":[{"id":"hostile-tenant-1","name":"A","providerToken":"provider-secret-token"}],"users":[{"id":"hostile-user-1","tenantId":"hostile-tenant-1","email":"a@example.com","plan":"pro"}]`

const documentText = (badness: number): fc.Arbitrary<string> =>
  fc.tuple(fc.boolean(), ...Object.entries(sections).map(([name, fields]) => section(name, fields, badness))).map(([hasBase, ...told]) => {
    const given = told.filter((text) => text !== '' && !(hasBase && /^"(?:tenants|users)"/.test(text)))
    return `{${[...(hasBase ? [base] : []), ...given].join(',')}}`
  })

const anyDocument = fc.oneof(
  { weight: 4, arbitrary: documentText(0) },
  { weight: 6, arbitrary: documentText(4) },
  { weight: 2, arbitrary: documentText(30) },
  { weight: 1, arbitrary: nastyMember },
)

const tokens = ['Bearer {{operator}}', 'bearer {{operator}}']
const badTokens = [
  'Bearer nobody',
  'Bearer',
  '',
  'Bearer {{operator}}x',
  'Basic {{operator}}',
  `Bearer ${'x'.repeat(5_000)}`,
  'Bearer {{key:full}}',
]

const segment = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('hostile-tenant-1', 'hostile-tenant-2', 'nobody') },
  { weight: 2, arbitrary: nastyText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 3_000) || '%00') },
  { weight: 1, arbitrary: fc.constantFrom('%', '..', '%2e%2e', '%00', '%c0%af', '*', 'a%2Fb') },
)

const bodyOf = (text: string): HostileBody => ({ bytes: bytesOf(text), padding: 0, chunkBytes: undefined })

const sentBody = ({ path, body }: Operation): fc.Arbitrary<HostileBody | undefined> => {
  if (body === undefined) return fc.constant(undefined)
  return (/\/(?:apply|plan)$/.test(path) ? anyDocument : fc.oneof(anyDocument, textOfBody(body))).map(bodyOf)
}

/** @param operations of the operator's OpenAPI document */
export const operatorRequestOf = (operations: readonly Operation[]): fc.Arbitrary<HostileRequest> =>
  fc.oneof(
    ...operations.map((operation): fc.WeightedArbitrary<HostileRequest> => {
      const parts = operation.path.split('/').map((part) => (part.startsWith('{') ? segment : fc.constant(part)))
      return {
        weight: operation.body === undefined ? 1 : 4,
        arbitrary: fc
          .tuple(
            fc.tuple(...parts),
            queryOf(operation),
            sentBody(operation),
            fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...tokens) }, { weight: 1, arbitrary: fc.constantFrom(...badTokens) }),
          )
          .map(([path, query, body, token]) => ({
            listener: 'operator',
            method: operation.method,
            target: `${path.join('/')}${query}`,
            headers: [['Authorization', token], ...(body === undefined ? [] : [['Content-Type', 'application/json'] as const])],
            body,
          })),
      }
    }),
  )
