// The faults that wait to happen, by account and route, and which of them a request runs into.
import type { Random } from '../numbers/random.ts'
import type { RouteName } from '../rest/route-names.ts'
import {
  canHappenOn,
  isDecisive,
  objectionTo,
  type DecisiveFault,
  type Fault,
  type FaultKind,
  type FaultRoute,
  type Of,
} from './fault.ts'

export type Faults = {
  /**
   * Puts these faults in the place of all that were set for this account (`*`: all) and route
   * (`any`: all).
   */
  readonly set: (account: string, route: FaultRoute, faults: Fault | readonly Fault[]) => void
  /** Adds a fault to those set. */
  readonly add: (account: string, route: FaultRoute, fault: Fault) => void
  /** Takes faults away: all, or those of an account, a route, or both. */
  readonly clear: (filter?: { readonly account?: string; readonly route?: string }) => void
}

type Armed = {
  readonly account: string
  readonly route: FaultRoute
  readonly fault: Fault
  skipped: number
  hits: number
}

/** The faults that one request ran into. */
export type Fired = {
  readonly kinds: readonly FaultKind[]
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
      if (!strikes(one, random)) continue
      if (isDecisive(one.fault)) decisive = one.fault
      fired.push(one.fault)
    }
    return firedOf(fired, decisive)
  }

  return { faults, fire }
}

const nothingFired: Fired = { kinds: [], find: () => undefined, decisive: undefined }

const firedOf = (fired: readonly Fault[], decisive: DecisiveFault | undefined): Fired =>
  fired.length === 0
    ? nothingFired
    : {
        kinds: fired.map((fault) => fault.kind),
        find: <K extends FaultKind>(kind: K) =>
          fired.find((fault): fault is Of<K> => fault.kind === kind),
        decisive,
      }

const strikes = (one: Armed, random: Random): boolean => {
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
