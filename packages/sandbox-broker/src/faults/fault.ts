// The ways in which a sandbox can be told to fail, and on which routes each can happen. The types
// and the checks of faults that come over HTTP follow from one table.
import { ROUTE_NAMES, type RouteName } from '../rest/route-names.ts'

type Check<A> = (value: unknown) => value is A
type Checks = Readonly<Record<string, Check<unknown>>>
type Terms = {
  readonly routes: readonly RouteName[]
  readonly required?: Checks
  readonly optional?: Checks
}

const check = <A>(holds: (value: unknown) => boolean): Check<A> => holds as Check<A>

const isNumber = check<number>(Number.isFinite)
const isCount = check<number>(
  (value) => isNumber(value) && Number.isSafeInteger(value) && value >= 0,
)
const isAtLeastOne = check<number>((value) => isCount(value) && value !== 0)
const isShare = check<number>((value) => isNumber(value) && value >= 0 && value <= 1)
const isFlag = check<boolean>((value) => typeof value === 'boolean')
const isText = check<string>((value) => typeof value === 'string')
const isRecord = check<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
)
const isHeaders = check<Readonly<Record<string, string>>>(
  (value) => isRecord(value) && Object.values(value).every(isText),
)
const isTexts = check<readonly string[]>((value) => Array.isArray(value) && value.every(isText))
const isAnything = check<unknown>(() => true)
const oneOf = <A extends string>(...values: readonly A[]) =>
  check<A>((value) => values.some((one) => one === value))

/** Before the request is carried out, or after: an answer that is lost after a trade was made. */
const when = { when: oneOf('before', 'after') }
/** For so many reads, or for so many milliseconds; one read when neither is given. */
const lasting = { reads: isCount, ms: isCount }
const everywhere = ROUTE_NAMES
const ofAccount = ROUTE_NAMES.filter((route) => route !== 'accounts')
const ofHistory = ROUTE_NAMES.filter((route) => route === 'deals' || route === 'history-orders')
const ofTrade = ['trade'] as const

const TERMS = {
  delay: { routes: everywhere, required: { ms: isCount } },
  /** 504 TimeoutError. */
  timeout: { routes: everywhere, optional: when },
  /** The connection is reset. */
  cut: { routes: everywhere, optional: when },
  /** No answer ever comes. */
  lost: { routes: everywhere, optional: when },
  /** 429; by default with Retry-After in seconds and recommendedRetryTime in ISO 8601. */
  'rate-limit': {
    routes: everywhere,
    optional: {
      retryAfterSeconds: isNumber,
      header: oneOf('seconds', 'date', 'none'),
      retryTime: oneOf('iso', 'rfc1123', 'none'),
    },
  },
  /** 503 with a page of HTML. */
  unavailable: { routes: everywhere, optional: when },
  /** 500 InternalError. */
  'server-error': { routes: everywhere, optional: when },
  unauthorized: { routes: everywhere },
  forbidden: { routes: everywhere },
  /** 404: the account is not known. */
  'not-found': { routes: ofAccount },
  /** 504, as for an account that is switched off. */
  undeployed: { routes: ofAccount },
  /** 504, as for an account of another region. */
  'wrong-region': { routes: ofAccount },
  /** Any answer at all. */
  reply: {
    routes: everywhere,
    required: { status: isAtLeastOne },
    optional: { ...when, body: isAnything, text: isText, headers: isHeaders },
  },
  /** The answer is cut off in the middle of its JSON. */
  'malformed-json': { routes: everywhere },
  /**
   * `{}`, `{"deals":[…],"synchronizing":…}`, the answer in an array, its JSON as a string, null, or
   * no body.
   */
  'wrong-shape': {
    routes: everywhere,
    optional: {
      shape: oneOf('object', 'wrapped', 'array', 'string', 'null', 'empty'),
      synchronizing: isFlag,
    },
  },
  /** The body drips over so many milliseconds. */
  'slow-body': {
    routes: everywhere,
    required: { ms: isCount },
    optional: { chunks: isAtLeastOne },
  },
  /** Ids as numbers where they are strings. */
  'numeric-ids': { routes: everywhere },
  /** Sets or removes fields of the answer, or of every n-th row of it. */
  patch: { routes: everywhere, optional: { set: isRecord, remove: isTexts, every: isAtLeastOne } },
  /** Rows in an order that has nothing to do with time, each still once. */
  shuffled: { routes: ofHistory },
  /** Every page begins with the last rows of the one before. */
  duplicates: { routes: ofHistory, optional: { rows: isCount } },
  /** Deals of an entry type lack their volume; every n-th of them. */
  'missing-volume': {
    routes: ofHistory,
    optional: { entry: oneOf('in', 'out', 'all'), every: isAtLeastOne },
  },
  /** The history is still loading: only this share of it is there, from the oldest; default 0. */
  synchronizing: { routes: ofHistory, optional: { share: isShare } },
  /** Only the newest rows are kept; default 5,000. */
  'last-rows': { routes: ofHistory, optional: { rows: isCount } },
  /** calculate-margin answers `{}`. */
  'no-margin': { routes: ['margin'] },
  /** A return code in place of the result; 200 unless a status is given. */
  'return-code': {
    routes: ofTrade,
    required: { numericCode: isNumber },
    optional: {
      ...when,
      stringCode: isText,
      message: isText,
      orderId: isText,
      status: isAtLeastOne,
    },
  },
  /** 10010: only this fraction is filled; default a half. */
  'partial-fill': { routes: ofTrade, optional: { fraction: isShare } },
  /** 10008: accepted now, filled later. */
  placed: { routes: ofTrade, optional: lasting },
  /** After the trade the positions are shown as they were before it, but to fresh reads. */
  'positions-lag': { routes: ofTrade, optional: lasting },
  /** After the trade its closing deals are not in the history yet. */
  'closing-deal-lag': { routes: ofTrade, optional: lasting },
  /** `error` and `description` in place of `numericCode` and `stringCode`. */
  'legacy-trade-body': { routes: ofTrade },
} as const satisfies Readonly<Record<string, Terms>>

/**
 * How often it happens: the first `skip` requests are spared, then `times` are hit (without it,
 * all), each with a probability.
 */
const frequency = { times: isCount, skip: isCount, probability: isShare }

type Checked<C> = { readonly [Name in keyof C]: C[Name] extends Check<infer A> ? A : never }
type Part<T, Name extends string> = T extends { readonly [N in Name]: infer C }
  ? Checked<C>
  : unknown

export type FaultKind = keyof typeof TERMS
export type FaultRoute = RouteName | 'any'
export type Fault = {
  [Kind in FaultKind]: { readonly kind: Kind } & Part<(typeof TERMS)[Kind], 'required'> &
    Partial<Part<(typeof TERMS)[Kind], 'optional'>> &
    Partial<Checked<typeof frequency>>
}[FaultKind]
/** A fault of a kind. */
export type Of<K extends FaultKind> = Extract<Fault, { readonly kind: K }>

/** The kinds that decide the answer by themselves. At most one of them applies to a request. */
const DECISIVE_KINDS = [
  'timeout',
  'cut',
  'lost',
  'rate-limit',
  'unavailable',
  'server-error',
  'unauthorized',
  'forbidden',
  'not-found',
  'undeployed',
  'wrong-region',
  'reply',
  'return-code',
] as const satisfies readonly FaultKind[]

export type DecisiveFault = Of<(typeof DECISIVE_KINDS)[number]>

export const isDecisive = (fault: Fault): fault is DecisiveFault =>
  DECISIVE_KINDS.some((kind) => kind === fault.kind)

export const canHappenOn = (kind: FaultKind, route: RouteName): boolean =>
  termsOf(kind).routes.includes(route)

const termsOf = (kind: FaultKind): Terms => TERMS[kind]

/** Why a fault cannot be set on a route, or undefined when it can. */
export const objectionTo = (route: string, fault: unknown): string | undefined => {
  const known = route === 'any' ? undefined : ROUTE_NAMES.find((name) => name === route)
  if (route !== 'any' && known === undefined)
    return `route must be any or one of ${ROUTE_NAMES.join(', ')}; got ${route}`
  if (typeof fault !== 'object' || fault === null) return 'fault must be an object'
  const { kind } = fault as { readonly kind?: unknown }
  const kinds = Object.keys(TERMS) as FaultKind[]
  const own = kinds.find((name) => name === kind)
  if (own === undefined)
    return `kind must be one of ${kinds.join(', ')}; got ${JSON.stringify(kind)}`
  const { routes, required = {}, optional = {} } = termsOf(own)
  const checks: Checks = { kind: isText, ...required, ...optional, ...frequency }
  for (const name of Object.keys(required)) if (!(name in fault)) return `${own} needs ${name}`
  for (const [name, value] of Object.entries(fault)) {
    if (value !== undefined && !(Object.hasOwn(checks, name) && checks[name]?.(value) === true))
      return `${own} does not take ${name}: ${JSON.stringify(value)}`
  }
  return known === undefined || canHappenOn(own, known)
    ? undefined
    : `${own} cannot happen on ${known}; it can on ${routes.join(', ')}`
}
