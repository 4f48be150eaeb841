// What faults do to answers: replace them, change their form, or change the rows of a history.
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DecisiveFault, Of, TriggeredFaults } from './faults.ts'
import {
  accountNotFound,
  type Context,
  forbidden,
  type Handler,
  internalError,
  notConnected,
  timedOut,
  tooManyRequests,
  unauthorized,
} from './http.ts'
import { createRandom } from './numbers.ts'
import { codeReply } from './return-codes.ts'

const answerText = (
  ctx: Context,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  ctx.status = status
  ctx.type = 'json'
  ctx.set(headers)
  ctx.body = Buffer.from(text)
}

const replacements: {
  readonly [Kind in DecisiveFault['kind']]: (ctx: Context, fault: Of<Kind>) => void
} = {
  timeout: timedOut,
  cut: (ctx) => {
    ctx.respond = false
    ctx.req.socket.resetAndDestroy()
  },
  lost: (ctx) => {
    ctx.respond = false
  },
  'rate-limit': (ctx, { retryAfterSeconds = 1, exceededConfig = 'perUser' }) => {
    const again = new Date(ctx.state.at + retryAfterSeconds * 1_000)
    ctx.set({ 'retry-after': String(Math.ceil(retryAfterSeconds)) })
    tooManyRequests({
      total: 1_000,
      available: 0,
      needed: 50,
      exceededConfig,
      exceededPeriod: '1s',
      recommendedRetryTime: again.toISOString(),
    })(ctx)
  },
  unavailable: (ctx) =>
    answerText(
      ctx,
      503,
      '<html><head><title>503</title></head><body>Service unavailable</body></html>',
      { 'content-type': 'text/html' },
    ),
  'server-error': internalError(),
  unauthorized,
  forbidden,
  'not-found': (ctx) => accountNotFound(ctx.state.account.settings.id)(ctx),
  undeployed: (ctx) => notConnected(ctx.state.account.settings.id)(ctx),
  reply: (ctx, { status, body, text = body === undefined ? '' : JSON.stringify(body), headers }) =>
    answerText(ctx, status, text, headers),
  'return-code': (ctx, fault) => {
    ctx.status = fault.status ?? 200
    ctx.body = codeReply(fault.numericCode, fault)
  },
}

/**
 * The answer that a fault gives, and whether it gives it before the request is carried out or
 * after.
 */
export const replacementFor = (
  fault: DecisiveFault,
): { readonly when: 'before' | 'after'; readonly answer: Handler } => {
  const answer = replacements[fault.kind] as (ctx: Context, fault: DecisiveFault) => void
  return {
    when: ('when' in fault ? fault.when : undefined) ?? 'before',
    answer: (ctx) => answer(ctx, fault),
  }
}

export const distortReply = (ctx: Context): void => {
  const { faults } = ctx.state
  if (ctx.respond === false) return
  if (ctx.status < 400) distortBody(ctx)
  const slow = faults.find('slow-body')
  if (slow === undefined || ctx.body === undefined || ctx.body === null) return
  const bytes = Buffer.from(Buffer.isBuffer(ctx.body) ? ctx.body : JSON.stringify(ctx.body))
  ctx.body = Readable.from(drip(bytes, slow.ms))
  ctx.length = bytes.length
}

async function* drip(bytes: Buffer, ms: number) {
  const chunks = 10
  const size = Math.max(1, Math.ceil(bytes.length / chunks))
  for (let from = 0; from < bytes.length; from += size) {
    yield bytes.subarray(from, from + size)
    await sleep(ms / chunks)
  }
}

const distortBody = (ctx: Context): void => {
  const { faults } = ctx.state
  const steps: ((body: unknown) => unknown)[] = []
  const patch = faults.find('patch')
  const shape = faults.find('wrong-shape')
  if (faults.find('no-margin') !== undefined) steps.push(() => ({}))
  if (faults.find('legacy-trade-body') !== undefined) steps.push(asLegacyTrade)
  if (faults.find('numeric-ids') !== undefined) steps.push(withNumericIds)
  if (patch !== undefined) steps.push((body) => patched(body, patch))
  if (shape !== undefined) steps.push((body) => shaped(body, shape, ctx._matchedRouteName ?? ''))
  const malformed = faults.find('malformed-json') !== undefined
  if (steps.length === 0 && !malformed) return
  const given: unknown = Buffer.isBuffer(ctx.body) ? JSON.parse(ctx.body.toString()) : ctx.body
  const body = steps.reduce((value, step) => step(value), given)
  const text = JSON.stringify(body)
  ctx.type = 'json'
  ctx.body = Buffer.from(malformed ? text.slice(0, Math.max(1, Math.floor(text.length / 2))) : text)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const without = (body: unknown, fields: readonly string[]): unknown =>
  isRecord(body)
    ? Object.fromEntries(Object.entries(body).filter(([field]) => !fields.includes(field)))
    : body

const asLegacyTrade = (body: unknown): unknown => {
  if (!isRecord(body) || !('numericCode' in body)) return body
  const { numericCode, stringCode, ...rest } = body
  return { error: numericCode, description: stringCode, ...rest }
}

const idFields = ['id', 'positionId', 'orderId', 'closeByPositionId']

const asNumber = (field: string, value: unknown): unknown =>
  idFields.includes(field) && typeof value === 'string' && /^\d+$/.test(value)
    ? Number(value)
    : value

const withNumericIds = (body: unknown): unknown => {
  if (Array.isArray(body)) return body.map(withNumericIds)
  if (!isRecord(body)) return body
  return Object.fromEntries(
    Object.entries(body).map(([field, value]) => [field, asNumber(field, value)]),
  )
}

const patched = (body: unknown, fault: Of<'patch'>): unknown => {
  if (Array.isArray(body)) return body.map((row) => patched(row, fault))
  const { set = {}, remove = [] } = fault
  return isRecord(body) ? { ...(without(body, remove) as object), ...set } : body
}

const shaped = (
  body: unknown,
  { shape = 'object', synchronizing = false }: Of<'wrong-shape'>,
  route: string,
): unknown => {
  if (shape === 'wrapped') return { [wrapperOf(route)]: body, synchronizing }
  return shape === 'null' ? null : {}
}

const wrapperOf = (route: string): string => (route === 'history-orders' ? 'historyOrders' : route)

/** The rows that a faulty history holds in a range, before they are cut into pages. */
export const distortRows = <Row>(
  given: readonly Row[],
  faults: TriggeredFaults,
  seed: number,
): readonly Row[] => {
  const synchronizing = faults.find('synchronizing')
  const last = faults.find('last-rows')
  let rows = given
  if (synchronizing !== undefined)
    rows = rows.slice(0, Math.floor(rows.length * (synchronizing.share ?? 0)))
  if (last !== undefined) rows = rows.slice(Math.max(0, rows.length - (last.rows ?? 5_000)))
  return faults.find('shuffled') === undefined ? rows : shuffle(rows, seed)
}

/** With repeated rows, each page starts that many rows early. */
export const distortOffset = (offset: number, limit: number, faults: TriggeredFaults): number => {
  const duplicates = faults.find('duplicates')
  if (duplicates === undefined) return offset
  const repeated = Math.min(duplicates.rows ?? 1, limit - 1)
  return offset - repeated * Math.floor(offset / limit)
}

/** Always the same order for the same rows, so that pages fit together. */
const shuffle = <Row>(rows: readonly Row[], seed: number): readonly Row[] => {
  const random = createRandom(seed, 'shuffled')
  const keyed = rows.map((row) => ({ row, key: random.fraction() }))
  return keyed.toSorted((a, b) => a.key - b.key).map(({ row }) => row)
}
