// Makes the client: a method for each row of the routes.
import { exportedFile } from './exported-file.ts'
import { readSettings } from './settings.ts'
import type { CallOptions, ClientOptions, Settings } from './settings.ts'
import type { Client } from './methods.ts'
import { walkThrough } from './pages.ts'
import type { AnyPage } from './pages.ts'
import { routes } from './routes.ts'
import type { Operation, RouteRow } from './routes.ts'
import { newIdempotencyKey, platform } from './runtime.ts'
import type { Runtime } from './runtime.ts'
import { send } from './send.ts'
import type { Call } from './send.ts'

/**
 * A client of one service with one credential. Its methods throw TradeportError and need no `this`.
 * Throws a TypeError where an option cannot be.
 */
export const createClient = (options: ClientOptions): Client => {
  const settings = readSettings(options)
  const runtime = platform(settings.fetch)
  const methods = (Object.keys(routes) as Operation[]).map((operation) => [
    operation,
    methodOf(runtime, settings, operation),
  ])
  // Each method takes and gives what the contract says of its route, which no compiler follows
  // through a table.
  return Object.fromEntries(methods) as Client
}

type Input = Readonly<Record<string, unknown>>

const methodOf = (runtime: Runtime, settings: Settings, operation: Operation) => {
  const { takes, walk }: RouteRow = routes[operation]
  const ids = idsOf(operation)
  const call = async (...given: readonly unknown[]) => {
    const path = fillPath(operation, given.slice(0, ids.length))
    const input = takes === undefined ? undefined : (given[ids.length] as Input | undefined)
    const options = (given[ids.length + (takes === undefined ? 0 : 1)] ?? {}) as CallOptions
    return ask(runtime, settings, operation, path, input, options)
  }
  if (walk === undefined) return call
  const each = (...given: readonly unknown[]) => {
    const [query, options] = given.slice(ids.length)
    // What lists answer is what the contract says.
    const read = (page: object) =>
      call(...given.slice(0, ids.length), { ...(query as Input), ...page }, options) as Promise<
        AnyPage<{ id: string }>
      >
    return walkThrough(read, walk)
  }
  return Object.assign(call, { each })
}

const ask = async (
  runtime: Runtime,
  settings: Settings,
  operation: Operation,
  path: string,
  input: Input | undefined,
  options: CallOptions,
): Promise<unknown> => {
  const { takes, sending }: RouteRow = routes[operation]
  const { timeoutMs, retry, signal } = settings.forCall(options)
  const body = takes === 'body' ? bodyOf(operation, input) : undefined
  const idempotencyKey = sending === 'keyed' ? keyOf(options.idempotencyKey) : undefined
  const headers = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    ...(await settings.credential()),
  }
  const url = `${settings.baseUrl}${path}${takes === 'query' ? queryOf(input) : ''}`
  const request: Call = { operation, url, body, headers, idempotencyKey, signal, timeoutMs, retry }
  const answer = await send(runtime, request)
  return answer.kind === 'file'
    ? exportedFile(answer.response, operation, timeoutMs, signal)
    : answer.reply
}

const idsOf = (operation: Operation): readonly string[] =>
  routes[operation].path.match(/(?<=:)\w+/g) ?? []

const fillPath = (operation: Operation, given: readonly unknown[]): string => {
  const names = idsOf(operation)
  let at = 0
  return routes[operation].path.replaceAll(/:\w+/g, () => {
    const value = given[at]
    // Any of these would lead to another route.
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
      throw new TypeError(
        `${operation} takes ${names[at]} as text that is not empty; got ${JSON.stringify(value) ?? 'nothing'}.`,
      )
    }
    at += 1
    return encodeURIComponent(value)
  })
}

const queryOf = (query: Input | undefined): string => {
  const given = Object.entries(query ?? {}).filter(
    ([, value]) => value !== undefined && value !== null,
  )
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return text === '' ? '' : `?${text}`
}

const bodyOf = (operation: Operation, body: Input | undefined): string => {
  if (typeof body !== 'object' || body === null)
    throw new TypeError(
      `${operation} takes a body, an object; got ${JSON.stringify(body) ?? 'nothing'}.`,
    )
  // JSON would leave the field out, and without it the whole position is closed.
  if (operation === 'closePosition' && 'volume' in body && body['volume'] === undefined) {
    throw new TypeError(
      'closePosition got a volume that is undefined. Send {} to close all of the position.',
    )
  }
  return JSON.stringify(body)
}

const keyOf = (given: string | undefined): string => {
  if (given === undefined) return newIdempotencyKey()
  if (!/^[!-~]([ -~]{0,253}[!-~])?$/.test(given)) {
    throw new TypeError(
      'idempotencyKey takes 1 to 255 printable ASCII characters, without a space at either end.',
    )
  }
  return given
}
