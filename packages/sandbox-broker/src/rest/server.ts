// The HTTP edge: one listener that plays all of the provider's hosts, and the sandbox's own control routes.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerControl, isControl } from '../control/control-routes.ts'
import type { Core } from '../core.ts'
import { answer, type Asked } from './answer.ts'
import { internalError, type Reply } from './reply.ts'

/** A history may be sent along with a new account. */
const BODY_BYTES_MAX = 33_554_432

/** `changed` is called after every request. */
export const createRestServer = (core: Core, changed: () => void): Server => {
  const server = createServer((request, response) => {
    const asked = askedOf(request)
    const answering = isControl(asked.target) ? answerControl(core, asked) : answer(core, asked)
    answering
      .catch((error: unknown) => internalError(error instanceof Error ? error.message : 'unknown'))
      .then((reply) => {
        changed()
        return send(response, reply, core.now())
      })
      // The client hung up while it was answered.
      .catch(() => response.destroy())
  })
  // Clients keep connections for long; were we to close one first, a request could meet a reset that nobody asked for.
  server.keepAliveTimeout = 65_000
  return server
}

const askedOf = (request: IncomingMessage): Asked => ({
  method: request.method ?? 'GET',
  target: request.url ?? '/',
  headers: request.headers,
  readBody: () => readJson(request),
})

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > BODY_BYTES_MAX) return undefined
    chunks.push(bytes)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

const send = async (response: ServerResponse, reply: Reply, now: number): Promise<void> => {
  const { delivery } = reply
  if (delivery?.how === 'never') return
  if (delivery?.how === 'cut') return void response.socket?.resetAndDestroy()
  const bytes = Buffer.from(reply.text ?? (reply.body === undefined ? '' : JSON.stringify(reply.body)))
  response.writeHead(reply.status, {
    date: new Date(now).toUTCString(),
    ...(bytes.length > 0 && { 'content-type': 'application/json' }),
    ...(reply.status !== 204 && { 'content-length': bytes.length }),
    ...reply.headers,
  })
  if (delivery?.how === 'slowly') await drip(response, bytes, delivery)
  response.end(delivery === undefined ? bytes : undefined)
}

const drip = async (
  response: ServerResponse,
  bytes: Buffer,
  { ms, chunks }: { readonly ms: number; readonly chunks: number },
): Promise<void> => {
  const size = Math.max(1, Math.ceil(bytes.length / chunks))
  for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
    response.write(bytes.subarray(from, from + size))
    await sleep(ms / chunks)
  }
}
