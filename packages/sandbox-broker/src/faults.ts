// The faults of a sandbox: their kinds, those that are set, and those that a request triggers.
import type { Random } from './numbers.ts'

export const ROUTE_NAMES = [
  'accounts',
  'account',
  'account-information',
  'positions',
  'orders',
  'order',
  'trade',
  'deals',
  'history-orders',
  'margin',
  'symbols',
  'specification',
  'price',
  'candles',
  'ticks',
] as const

export type RouteName = (typeof ROUTE_NAMES)[number]

// Each kind of fault with its routes and fields. The types and the checks of faults that come over
// HTTP follow from this table.

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
/** For so many reads, or for so many milliseconds; one read if neither is given. */
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
  /** 429 with Retry-After and recommendedRetryTime. */
  'rate-limit': { routes: everywhere, optional: { retryAfterSeconds: isNumber } },
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
  /** Any answer at all. */
  reply: {
    routes: everywhere,
    required: { status: isAtLeastOne },
    optional: { ...when, body: isAnything, text: isText, headers: isHeaders },
  },
  /** The answer is cut off in the middle of its JSON. */
  'malformed-json': { routes: everywhere },
  /** `{}`, `{"deals":[…],"synchronizing":…}`, or null. */
  'wrong-shape': {
    routes: everywhere,
    optional: { shape: oneOf('object', 'wrapped', 'null'), synchronizing: isFlag },
  },
  /** The body drips over so many milliseconds. */
  'slow-body': { routes: everywhere, required: { ms: isCount } },
  /** Ids as numbers where they are strings. */
  'numeric-ids': { routes: everywhere },
  /** Sets or removes fields of the answer, or of its rows. */
  patch: { routes: everywhere, optional: { set: isRecord, remove: isTexts } },
  /** Rows in an order that has nothing to do with time, each still once. */
  shuffled: { routes: ofHistory },
  /** Every page begins with the last rows of the one before. */
  duplicates: { routes: ofHistory, optional: { rows: isCount } },
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
  /**
   * 10010: only this fraction is filled; default a half. A pending order is accepted, and filled by
   * this fraction at each price that reaches it.
   */
  'partial-fill': { routes: ofTrade, optional: { fraction: isShare } },
  /** 10008: accepted now, carried out later. */
  placed: { routes: ofTrade, optional: lasting },
  /** After the trade the positions are shown as they were before it, but to fresh reads. */
  'positions-lag': { routes: ofTrade, optional: lasting },
  /** After the trade the open orders are shown as they were before it, but to fresh reads. */
  'orders-lag': { routes: ofTrade, optional: lasting },
  /** The pending order that was placed or changed gets a ticket that the answer does not name. */
  'new-ticket': { routes: ofTrade },
  /** After the trade its closing deals are not in the history yet. */
  'closing-deal-lag': { routes: ofTrade, optional: lasting },
  /** `error` and `description` in place of `numericCode` and `stringCode`. */
  'legacy-trade-body': { routes: ofTrade },
} as const satisfies Readonly<Record<string, Terms>>

/** Not the first `skip` requests, then `times` (all without it), each with a probability. */
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
  'reply',
  'return-code',
] as const satisfies readonly FaultKind[]

export type DecisiveFault = Of<(typeof DECISIVE_KINDS)[number]>

export const isDecisive = (fault: Fault): fault is DecisiveFault =>
  DECISIVE_KINDS.some((kind) => kind === fault.kind)

export const canHappenOn = (kind: FaultKind, route: RouteName): boolean =>
  termsOf(kind).routes.includes(route)

const termsOf = (kind: FaultKind): Terms => TERMS[kind]

/** Why a fault cannot be set on a route; undefined if it can. */
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
      return `${own} does not accept ${name}: ${JSON.stringify(value)}`
  }
  return known === undefined || canHappenOn(own, known)
    ? undefined
    : `${own} cannot happen on ${known}; it can on ${routes.join(', ')}`
}

export type Faults = {
  /**
   * Replaces all faults that were set for this account (`*`: all) and route (`any`: all).
   */
  readonly set: (account: string, route: FaultRoute, faults: Fault | readonly Fault[]) => void
  /** Adds a fault to those set. */
  readonly add: (account: string, route: FaultRoute, fault: Fault) => void
  /** Removes all faults, or those of an account, a route, or both. */
  readonly clear: (filter?: { readonly account?: string; readonly route?: string }) => void
}

type Armed = {
  readonly account: string
  readonly route: FaultRoute
  readonly fault: Fault
  skipped: number
  hits: number
}

/** The faults that one request triggered. */
export type Fired = {
  readonly find: <K extends FaultKind>(kind: K) => Of<K> | undefined
  readonly decisive: DecisiveFault | undefined
}

export const createFaultSet = (random: Random) => {
  let armed: Armed[] = []

  const add = (account: string, route: FaultRoute, fault: Fault): void => {
    const objection = objectionTo(route, fault)
    if (objection !== undefined) throw new Error(objection)
    armed.push({ account, route, fault, skipped: 0, hits: 0 })
  }

  const faults: Faults = {
    add,
    set: (account, route, given) => {
      const list: readonly Fault[] = Array.isArray(given)
        ? (given as readonly Fault[])
        : [given as Fault]
      const objection = list
        .map((fault) => objectionTo(route, fault))
        .find((text) => text !== undefined)
      if (objection !== undefined) throw new Error(objection)
      armed = armed.filter((other) => other.account !== account || other.route !== route)
      for (const fault of list) add(account, route, fault)
    },
    clear: ({ account, route } = {}) => {
      armed = armed.filter(
        (other) =>
          (account !== undefined && other.account !== account) ||
          (route !== undefined && other.route !== route),
      )
    },
  }

  const fire = (account: string | undefined, route: RouteName): Fired => {
    const fired: Fault[] = []
    let decisive: DecisiveFault | undefined
    for (const one of armed) {
      if (one.account !== '*' && one.account !== account) continue
      if ((one.route !== 'any' && one.route !== route) || !canHappenOn(one.fault.kind, route))
        continue
      if (decisive !== undefined && isDecisive(one.fault)) continue
      if (!triggers(one, random)) continue
      if (isDecisive(one.fault)) decisive = one.fault
      fired.push(one.fault)
    }
    return {
      find: <K extends FaultKind>(kind: K) =>
        fired.find((fault): fault is Of<K> => fault.kind === kind),
      decisive,
    }
  }

  return { faults, fire }
}

const triggers = (one: Armed, random: Random): boolean => {
  const { skip = 0, times, probability } = one.fault
  if (times !== undefined && one.hits >= times) return false
  if (one.skipped < skip) {
    one.skipped++
    return false
  }
  if (probability !== undefined && !random.chance(probability)) return false
  one.hits++
  return true
}
