// The answers that stand in for the real one when a fault settles it.
import {
  accountNotFound,
  forbidden,
  internalError,
  notConnected,
  timedOut,
  tooManyRequests,
  unauthorized,
  type Reply,
} from '../rest/reply.ts'
import { codeReply } from '../trading/return-codes.ts'
import type { Fault, FaultKind, Of } from './fault.ts'

const rateLimited = ({ retryAfterSeconds = 1, header = 'seconds', retryTime = 'iso' }: Of<'rate-limit'>, at: number): Reply => {
  const again = new Date(at + retryAfterSeconds * 1_000)
  const headers = {
    seconds: { 'retry-after': String(Math.ceil(retryAfterSeconds)) },
    date: { 'retry-after': again.toUTCString() },
    none: {},
  }
  const times = { iso: { recommendedRetryTime: again.toISOString() }, rfc1123: { recommendedRetryTime: again.toUTCString() }, none: {} }
  return tooManyRequests(
    { total: 1_000, available: 0, needed: 50, exceededConfig: 'perAccount', exceededPeriod: '1s', ...times[retryTime] },
    headers[header],
  )
}

type Request = { readonly accountId: string; readonly at: number }

const STAND_INS: { readonly [Kind in FaultKind]?: (fault: Of<Kind>, request: Request) => Reply } = {
  timeout: () => timedOut(),
  cut: () => ({ status: 0, delivery: { how: 'cut' } }),
  lost: () => ({ status: 0, delivery: { how: 'never' } }),
  'rate-limit': (fault, { at }) => rateLimited(fault, at),
  unavailable: () => ({
    status: 503,
    text: '<html><head><title>503</title></head><body>Service unavailable</body></html>',
    headers: { 'content-type': 'text/html' },
  }),
  'server-error': () => internalError(),
  unauthorized: () => unauthorized(),
  forbidden: () => forbidden(),
  'not-found': (_fault, { accountId }) => accountNotFound(accountId),
  undeployed: (_fault, { accountId }) => notConnected(accountId),
  'wrong-region': (_fault, { accountId }) => notConnected(accountId),
  reply: ({ status, body, text, headers }) => ({
    status,
    body,
    ...(text !== undefined && { text }),
    ...(headers !== undefined && { headers }),
  }),
  'return-code': (fault) => ({ status: fault.status ?? 200, body: codeReply(fault.numericCode, fault) }),
}

/** Whether a fault settles the answer by itself. */
export const settlesAnswer = (kind: FaultKind): boolean => Object.hasOwn(STAND_INS, kind)

/** What a fault answers in place of the route, at this moment of the request; undefined when its moment is the other one. */
export const standIn = (fault: Fault | undefined, moment: 'before' | 'after', request: Request): Reply | undefined => {
  if (fault === undefined || momentOf(fault) !== moment) return undefined
  const make = STAND_INS[fault.kind] as ((fault: Fault, request: Request) => Reply) | undefined
  return make?.(fault, request)
}

const momentOf = (fault: Fault): 'before' | 'after' => ('when' in fault ? fault.when : undefined) ?? 'before'
