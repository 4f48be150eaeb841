// The ways in which a sandbox can be told to fail, and on which routes each can happen. A fault that comes over HTTP is checked against the same table.
import { ROUTE_NAMES, type RouteName } from '../rest/route-names.ts'

/** Before the request is carried out, or after: an answer that is lost after a trade was made. */
type When = { readonly when?: 'before' | 'after' }

/** For so many reads, or for so many milliseconds; one read when neither is given. */
type Lasting = { readonly reads?: number; readonly ms?: number }

/** What happens. */
export type Failure =
  | { readonly kind: 'delay'; readonly ms: number }
  /** 504 TimeoutError. */
  | ({ readonly kind: 'timeout' } & When)
  /** The connection is reset. */
  | ({ readonly kind: 'cut' } & When)
  /** No answer ever comes. */
  | ({ readonly kind: 'lost' } & When)
  /** 429; by default with Retry-After in seconds and recommendedRetryTime in ISO 8601. */
  | {
      readonly kind: 'rate-limit'
      readonly retryAfterSeconds?: number
      readonly header?: 'seconds' | 'date' | 'none'
      readonly retryTime?: 'iso' | 'rfc1123' | 'none'
    }
  /** 503 with a page of HTML. */
  | ({ readonly kind: 'unavailable' } & When)
  /** 500 InternalError. */
  | ({ readonly kind: 'server-error' } & When)
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'forbidden' }
  /** 404: the account is not known. */
  | { readonly kind: 'not-found' }
  /** 504, as for an account that is switched off. */
  | { readonly kind: 'undeployed' }
  /** 504, as for an account of another region. */
  | { readonly kind: 'wrong-region' }
  /** Any answer at all. */
  | ({
      readonly kind: 'reply'
      readonly status: number
      readonly body?: unknown
      readonly text?: string
      readonly headers?: Readonly<Record<string, string>>
    } & When)
  /** The answer is cut off in the middle of its JSON. */
  | { readonly kind: 'malformed-json' }
  /** `{}`, `{"deals":[…],"synchronizing":…}`, the answer in an array, its JSON as a string, null, or no body. */
  | {
      readonly kind: 'wrong-shape'
      readonly shape?: 'object' | 'wrapped' | 'array' | 'string' | 'null' | 'empty'
      readonly synchronizing?: boolean
    }
  /** The body drips over so many milliseconds. */
  | { readonly kind: 'slow-body'; readonly ms: number; readonly chunks?: number }
  /** Ids as numbers where they are strings. */
  | { readonly kind: 'numeric-ids' }
  /** Sets or removes fields of the answer, or of every n-th row of it. */
  | {
      readonly kind: 'patch'
      readonly set?: Readonly<Record<string, unknown>>
      readonly remove?: readonly string[]
      readonly every?: number
    }
  /** Rows in an order that has nothing to do with time, each still once. */
  | { readonly kind: 'shuffled' }
  /** Every page begins with the last rows of the one before. */
  | { readonly kind: 'duplicates'; readonly rows?: number }
  /** Deals of an entry type lack their volume; every n-th of them. */
  | { readonly kind: 'missing-volume'; readonly entry?: 'in' | 'out' | 'all'; readonly every?: number }
  /** The history is still loading: only this share of it is there, from the oldest; default 0. */
  | { readonly kind: 'synchronizing'; readonly share?: number }
  /** Only the newest rows are kept; default 5,000. */
  | { readonly kind: 'last-rows'; readonly rows?: number }
  | { readonly kind: 'no-margin-level' }
  /** calculate-margin answers `{}`. */
  | { readonly kind: 'no-margin' }
  /** A return code in place of the result; 200 unless a status is given. */
  | ({
      readonly kind: 'return-code'
      readonly numericCode: number
      readonly stringCode?: string
      readonly message?: string
      readonly orderId?: string
      readonly status?: number
    } & When)
  /** 10010: only this fraction is filled; default a half. */
  | { readonly kind: 'partial-fill'; readonly fraction?: number }
  /** 10008: accepted now, filled later. */
  | ({ readonly kind: 'placed' } & Lasting)
  /** After the trade the positions are shown as they were before it, but to fresh reads. */
  | ({ readonly kind: 'positions-lag' } & Lasting)
  /** After the trade its closing deals are not in the history yet. */
  | ({ readonly kind: 'closing-deal-lag' } & Lasting)
  /** `error` and `description` in place of `numericCode` and `stringCode`. */
  | { readonly kind: 'legacy-trade-body' }

/** How often it happens: the first `skip` requests are spared, then `times` are hit (without it, all), each with a probability. */
export type Fault = Failure & { readonly times?: number; readonly skip?: number; readonly probability?: number }

export type FaultKind = Failure['kind']
export type FaultRoute = RouteName | 'any'
export type Of<K extends FaultKind> = Extract<Fault, { kind: K }>

type Check = (value: unknown) => boolean
type Terms = {
  readonly routes: readonly RouteName[]
  readonly required?: Readonly<Record<string, Check>>
  readonly optional?: Readonly<Record<string, Check>>
}

const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const isCount: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
const isAtLeastOne: Check = (value) => isCount(value) && value !== 0
const isShare: Check = (value) => typeof value === 'number' && value >= 0 && value <= 1
const isFlag: Check = (value) => typeof value === 'boolean'
const isText: Check = (value) => typeof value === 'string'
const isRecord: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText)
const isAnything: Check = () => true
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && values.includes(value)

const when = { when: oneOf('before', 'after') }
const lasting = { reads: isCount, ms: isCount }
const everywhere = ROUTE_NAMES
const ofAccount = ROUTE_NAMES.filter((route) => route !== 'accounts' && route !== 'regions')
const ofHistory = ROUTE_NAMES.filter((route) => route.startsWith('deals') || route.startsWith('history-orders'))
const ofTrade = ['trade'] as const

const TERMS: Readonly<Record<FaultKind, Terms>> = {
  delay: { routes: everywhere, required: { ms: isCount } },
  timeout: { routes: everywhere, optional: when },
  cut: { routes: everywhere, optional: when },
  lost: { routes: everywhere, optional: when },
  'rate-limit': {
    routes: everywhere,
    optional: { retryAfterSeconds: isNumber, header: oneOf('seconds', 'date', 'none'), retryTime: oneOf('iso', 'rfc1123', 'none') },
  },
  unavailable: { routes: everywhere, optional: when },
  'server-error': { routes: everywhere, optional: when },
  unauthorized: { routes: everywhere },
  forbidden: { routes: everywhere },
  'not-found': { routes: ofAccount },
  undeployed: { routes: ofAccount },
  'wrong-region': { routes: ofAccount },
  reply: {
    routes: everywhere,
    required: { status: isAtLeastOne },
    optional: { ...when, body: isAnything, text: isText, headers: isRecord },
  },
  'malformed-json': { routes: everywhere },
  'wrong-shape': {
    routes: everywhere,
    optional: { shape: oneOf('object', 'wrapped', 'array', 'string', 'null', 'empty'), synchronizing: isFlag },
  },
  'slow-body': { routes: everywhere, required: { ms: isCount }, optional: { chunks: isAtLeastOne } },
  'numeric-ids': { routes: everywhere },
  patch: { routes: everywhere, optional: { set: isRecord, remove: isTexts, every: isAtLeastOne } },
  shuffled: { routes: ofHistory },
  duplicates: { routes: ofHistory, optional: { rows: isCount } },
  'missing-volume': { routes: ofHistory, optional: { entry: oneOf('in', 'out', 'all'), every: isAtLeastOne } },
  synchronizing: { routes: ofHistory, optional: { share: isShare } },
  'last-rows': { routes: ofHistory, optional: { rows: isCount } },
  'no-margin-level': { routes: ['account-information'] },
  'no-margin': { routes: ['margin'] },
  'return-code': {
    routes: ofTrade,
    required: { numericCode: isNumber },
    optional: { ...when, stringCode: isText, message: isText, orderId: isText, status: isAtLeastOne },
  },
  'partial-fill': { routes: ofTrade, optional: { fraction: isShare } },
  placed: { routes: ofTrade, optional: lasting },
  'positions-lag': { routes: ofTrade, optional: lasting },
  'closing-deal-lag': { routes: ofTrade, optional: lasting },
  'legacy-trade-body': { routes: ofTrade },
}

const always = { times: isCount, skip: isCount, probability: isShare, kind: isText }

export const canHappenOn = (kind: FaultKind, route: RouteName): boolean => TERMS[kind].routes.includes(route)

/** Why a fault cannot be set on a route, or undefined when it can. */
export const objectionTo = (route: string, fault: unknown): string | undefined => {
  const known = route === 'any' ? undefined : ROUTE_NAMES.find((name) => name === route)
  if (route !== 'any' && known === undefined) return `route must be any or one of ${ROUTE_NAMES.join(', ')}; got ${route}`
  if (typeof fault !== 'object' || fault === null) return 'fault must be an object'
  const { kind } = fault as { readonly kind?: unknown }
  const kinds = Object.keys(TERMS) as FaultKind[]
  const own = kinds.find((name) => name === kind)
  if (own === undefined) return `kind must be one of ${kinds.join(', ')}; got ${JSON.stringify(kind)}`
  const { required = {}, optional = {} } = TERMS[own]
  const checks: Readonly<Record<string, Check>> = { ...required, ...optional, ...always }
  for (const name of Object.keys(required)) if (!(name in fault)) return `${own} needs ${name}`
  for (const [name, value] of Object.entries(fault)) {
    if (value !== undefined && !(Object.hasOwn(checks, name) && checks[name]?.(value) === true))
      return `${own} does not take ${name}: ${JSON.stringify(value)}`
  }
  return known === undefined || canHappenOn(own, known)
    ? undefined
    : `${own} cannot happen on ${known}; it can on ${TERMS[own].routes.join(', ')}`
}
