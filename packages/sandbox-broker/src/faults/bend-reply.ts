// Faults of an answer's form: other shapes, other types, fields gone, JSON cut off, bytes that
// drip.
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../rest/context.ts'
import type { Of } from './fault.ts'

export const bendReply = (ctx: Context): void => {
  const { fired } = ctx.state
  if (fired.kinds.length === 0 || ctx.respond === false) return
  if (ctx.status < 400) bendBody(ctx)
  const slow = fired.find('slow-body')
  if (slow === undefined || ctx.body === undefined || ctx.body === null) return
  const bytes = Buffer.from(Buffer.isBuffer(ctx.body) ? ctx.body : JSON.stringify(ctx.body))
  ctx.body = Readable.from(drip(bytes, slow))
  ctx.length = bytes.length
}

async function* drip(bytes: Buffer, { ms, chunks = 10 }: Of<'slow-body'>) {
  const size = Math.max(1, Math.ceil(bytes.length / chunks))
  for (let from = 0; from < bytes.length; from += size) {
    yield bytes.subarray(from, from + size)
    await sleep(ms / chunks)
  }
}

const bendBody = (ctx: Context): void => {
  const { fired } = ctx.state
  const steps: ((body: unknown) => unknown)[] = []
  const patch = fired.find('patch')
  const shape = fired.find('wrong-shape')
  if (fired.find('no-margin') !== undefined) steps.push(() => ({}))
  if (fired.find('legacy-trade-body') !== undefined) steps.push(asLegacyTrade)
  if (fired.find('numeric-ids') !== undefined) steps.push(withNumericIds)
  if (patch !== undefined) steps.push((body) => patched(body, patch))
  if (shape !== undefined) steps.push((body) => shaped(body, shape, ctx._matchedRouteName ?? ''))
  const malformed = fired.find('malformed-json') !== undefined
  if (steps.length === 0 && !malformed) return
  const given: unknown = Buffer.isBuffer(ctx.body) ? JSON.parse(ctx.body.toString()) : ctx.body
  const body = steps.reduce((value, step) => step(value), given)
  const text = body === undefined ? '' : JSON.stringify(body)
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

const ID_FIELDS = ['id', 'positionId', 'orderId', 'closeByPositionId']

const asNumber = (field: string, value: unknown): unknown =>
  ID_FIELDS.includes(field) && typeof value === 'string' && /^\d+$/.test(value)
    ? Number(value)
    : value

const withNumericIds = (body: unknown): unknown => {
  if (Array.isArray(body)) return body.map(withNumericIds)
  if (!isRecord(body)) return body
  return Object.fromEntries(
    Object.entries(body).map(([field, value]) => [field, asNumber(field, value)]),
  )
}

const patched = (body: unknown, { set = {}, remove = [], every = 1 }: Of<'patch'>): unknown => {
  const one = (row: unknown): unknown =>
    isRecord(row) ? { ...(without(row, remove) as object), ...set } : row
  return Array.isArray(body)
    ? body.map((row, index) => (index % every === 0 ? one(row) : (row as unknown)))
    : one(body)
}

const shaped = (
  body: unknown,
  { shape = 'object', synchronizing = false }: Of<'wrong-shape'>,
  route: string,
): unknown => {
  const shapes: Readonly<Record<typeof shape, unknown>> = {
    object: {},
    wrapped: { [wrapperOf(route)]: body, synchronizing },
    array: [body],
    string: JSON.stringify(body),
    null: null,
    empty: undefined,
  }
  return shapes[shape]
}

const wrapperOf = (route: string): string => (route === 'history-orders' ? 'historyOrders' : route)
