// The faults of a sandbox: their kinds, those that are set, and those that a request triggers.
import type { Random } from './numbers.ts'

const routeNames = [
  'accounts',
  'account',
  'account-information',
  'positions',
  'orders',
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

export type RouteName = (typeof routeNames)[number]

/** For so many reads, or for so many milliseconds; one read if neither is given. */
export type Lasting = { readonly reads?: number; readonly ms?: number }

/** The fields of faults. A field is the same in every kind that has it. */
type Fields = Required<Lasting> & {
  /** Before the request is carried out, or after: an answer that is lost after a trade was made. */
  readonly when: 'before' | 'after'
  readonly retryAfterSeconds: number
  /** The limit that is exceeded; default perUser, the token's. */
  readonly exceededConfig: 'perAccount' | 'perUser' | 'perServer'
  readonly status: number
  readonly body: unknown
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
  /** `{}`, `{"deals":[…],"synchronizing":…}`, or null. */
  readonly shape: 'object' | 'wrapped' | 'null'
  readonly synchronizing: boolean
  readonly set: Readonly<Record<string, unknown>>
  readonly remove: readonly string[]
  readonly rows: number
  /** From 0 to 1. */
  readonly share: number
  readonly fraction: number
  readonly numericCode: number
  readonly stringCode: string
  readonly message: string
  readonly orderId: string
  /** Not the first `skip` requests, then `times` (all without it), each with a probability. */
  readonly skip: number
  readonly times: number
  readonly probability: number
}
type FieldName = keyof Fields

/** On every route if none is named. */
type FaultShape = {
  readonly on?: readonly RouteName[]
  readonly needs?: readonly FieldName[]
  readonly accepts?: readonly FieldName[]
}

const ofAccount = routeNames.filter((route) => route !== 'accounts')
const ofHistory = ['deals', 'history-orders'] as const
const ofTrade = ['trade'] as const
const ofEvery = ['skip', 'times', 'probability'] as const
const lasting = ['reads', 'ms'] as const

const faultShapes = {
  delay: { needs: ['ms'] },
  /** 504 TimeoutError. */
  timeout: { accepts: ['when'] },
  /** The connection is reset. */
  cut: { accepts: ['when'] },
  /** No answer ever comes. */
  lost: { accepts: ['when'] },
  /** 429 with Retry-After and recommendedRetryTime. */
  'rate-limit': { accepts: ['retryAfterSeconds', 'exceededConfig'] },
  /** 503 with a page of HTML. */
  unavailable: { accepts: ['when'] },
  /** 500 InternalError. */
  'server-error': { accepts: ['when'] },
  unauthorized: {},
  forbidden: {},
  /** 404: the account is not known. */
  'not-found': { on: ofAccount },
  /** 504, as for an account that is switched off. */
  undeployed: { on: ofAccount },
  /** Any answer at all. */
  reply: { needs: ['status'], accepts: ['when', 'body', 'text', 'headers'] },
  /** The answer is cut off in the middle of its JSON. */
  'malformed-json': {},
  'wrong-shape': { accepts: ['shape', 'synchronizing'] },
  /** The body drips over so many milliseconds. */
  'slow-body': { needs: ['ms'] },
  /** Ids as numbers where they are strings. */
  'numeric-ids': {},
  /** Sets or removes fields of the answer, or of its rows. */
  patch: { accepts: ['set', 'remove'] },
  /** Rows in an order that has nothing to do with time, each still once. */
  shuffled: { on: ofHistory },
  /** Every page begins with the last rows of the one before. */
  duplicates: { on: ofHistory, accepts: ['rows'] },
  /** The history is still loading: only this share of it is there, from the oldest; default 0. */
  synchronizing: { on: ofHistory, accepts: ['share'] },
  /** Only the newest rows are kept; default 5,000. */
  'last-rows': { on: ofHistory, accepts: ['rows'] },
  /** calculate-margin answers `{}`. */
  'no-margin': { on: ['margin'] },
  /** A return code in place of the result; 200 unless a status is given. */
  'return-code': {
    on: ofTrade,
    needs: ['numericCode'],
    accepts: ['when', 'stringCode', 'message', 'orderId', 'status'],
  },
  /**
   * 10010: only this fraction is filled; default a half. A pending order is accepted, and filled by
   * this fraction at each price that reaches it.
   */
  'partial-fill': { on: ofTrade, accepts: ['fraction'] },
  /** 10008: accepted now, carried out later. */
  placed: { on: ofTrade, accepts: lasting },
  /** After the trade the positions are shown as they were before it, but to fresh reads. */
  'positions-lag': { on: ofTrade, accepts: lasting },
  /** After the trade the open orders are shown as they were before it, but to fresh reads. */
  'orders-lag': { on: ofTrade, accepts: lasting },
  /** The pending order that was placed or changed gets a ticket that the answer does not name. */
  'new-ticket': { on: ofTrade },
  /** After the trade its closing deals are not in the history yet. */
  'closing-deal-lag': { on: ofTrade, accepts: lasting },
  /** `error` and `description` in place of `numericCode` and `stringCode`. */
  'legacy-trade-body': { on: ofTrade },
} as const satisfies Readonly<Record<string, FaultShape>>

type NamesIn<Shape, List extends keyof FaultShape> = Shape extends {
  readonly [L in List]: readonly (infer Name extends FieldName)[]
}
  ? Name
  : never

export type FaultKind = keyof typeof faultShapes
export type FaultRoute = RouteName | 'any'
export type Fault = {
  [Kind in FaultKind]: { readonly kind: Kind } & Pick<
    Fields,
    NamesIn<(typeof faultShapes)[Kind], 'needs'>
  > &
    Partial<Pick<Fields, NamesIn<(typeof faultShapes)[Kind], 'accepts'> | (typeof ofEvery)[number]>>
}[FaultKind]
/** A fault of a kind. */
export type Of<K extends FaultKind> = Extract<Fault, { readonly kind: K }>

/** The kinds that decide the answer by themselves. At most one of them applies to a request. */
const decisiveKinds = [
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

export type DecisiveFault = Of<(typeof decisiveKinds)[number]>

const isDecisive = (fault: Fault): fault is DecisiveFault =>
  decisiveKinds.some((kind) => kind === fault.kind)

const canHappenOn = ({ on }: FaultShape, route: string): boolean =>
  on === undefined || on.some((name) => name === route)

/**
 * Throws where a fault has no known kind, lacks a field or has one that is not known, or cannot
 * happen.
 */
const requireFault = (route: FaultRoute, { kind, ...fields }: Fault): void => {
  if (!Object.hasOwn(faultShapes, kind))
    throw new Error(`kind must be one of ${Object.keys(faultShapes).join(', ')}; got ${kind}`)
  const shape: FaultShape = faultShapes[kind]
  const { needs = [], accepts = [] } = shape
  const missing = needs.find((name) => !(name in fields))
  if (missing !== undefined) throw new Error(`${kind} needs ${missing}`)
  const known: readonly string[] = [...needs, ...accepts, ...ofEvery]
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new Error(`${kind} has no field ${unknown}; it has ${known.join(', ')}`)
  if (route !== 'any' && !(routeNames.includes(route) && canHappenOn(shape, route)))
    throw new Error(`${kind} cannot happen on ${route}`)
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

type SetFault = {
  readonly account: string
  readonly route: FaultRoute
  readonly fault: Fault
  skipped: number
  hits: number
}

/** The faults that one request triggered. */
export type TriggeredFaults = {
  readonly find: <K extends FaultKind>(kind: K) => Of<K> | undefined
  readonly decisive: DecisiveFault | undefined
}

export const createFaultSet = (random: Random) => {
  let inForce: SetFault[] = []

  const add = (account: string, route: FaultRoute, fault: Fault): void => {
    requireFault(route, fault)
    inForce.push({ account, route, fault, skipped: 0, hits: 0 })
  }

  const faults: Faults = {
    add,
    set: (account, route, given) => {
      inForce = inForce.filter((other) => other.account !== account || other.route !== route)
      for (const fault of [given].flat()) add(account, route, fault)
    },
    clear: ({ account, route } = {}) => {
      inForce = inForce.filter(
        (other) =>
          (account !== undefined && other.account !== account) ||
          (route !== undefined && other.route !== route),
      )
    },
  }

  const trigger = (account: string | undefined, route: RouteName): TriggeredFaults => {
    const triggered: Fault[] = []
    let decisive: DecisiveFault | undefined
    for (const one of inForce) {
      if (one.account !== '*' && one.account !== account) continue
      if (
        (one.route !== 'any' && one.route !== route) ||
        !canHappenOn(faultShapes[one.fault.kind], route)
      )
        continue
      if (decisive !== undefined && isDecisive(one.fault)) continue
      if (!isTriggered(one, random)) continue
      if (isDecisive(one.fault)) decisive = one.fault
      triggered.push(one.fault)
    }
    return {
      find: <K extends FaultKind>(kind: K) =>
        triggered.find((fault): fault is Of<K> => fault.kind === kind),
      decisive,
    }
  }

  return { faults, trigger }
}

const isTriggered = (one: SetFault, random: Random): boolean => {
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
