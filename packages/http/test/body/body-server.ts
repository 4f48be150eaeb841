// A server that does nothing but read bodies, and answers what readBody returned.
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import * as E from 'fp-ts/lib/Either.js'
import { createBodyBudget, readBody } from '../../src/body/read-body.ts'
import { holdBody } from '../../src/body/continue.ts'

export type Answer = readonly [status: number, json: unknown]

export interface BodyServer extends AsyncDisposable {
  readonly port: number
  readonly server: Server
  /** What readBody returned, request by request. */
  readonly outcomes: readonly object[]
}

/** The method says whether the route has a body, and the headers under which credential its bodies are counted. */
export const runBodyServer = async (budget = createBodyBudget()): Promise<BodyServer> => {
  const outcomes: object[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const credential = request.headers['x-credential']
    const outcome = await readBody(request, response, {
      isTaken: request.method === 'POST',
      budget,
      credential: typeof credential === 'string' ? credential : undefined,
      mayHoldCredentials: request.url === '/secrets',
    })
    response.setHeader('Content-Type', 'application/json')
    response.statusCode = E.isRight(outcome) ? 200 : 400
    const answered = E.isLeft(outcome) ? outcome.left : { body: outcome.right }
    outcomes.push(answered)
    response.end(JSON.stringify(answered))
  }
  const server = createServer((request, response) => void answer(request, response))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    holdBody(request, response)
    void answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    server,
    outcomes,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Writes the pieces one after the other and resolves with the JSON of every answer, once the connection ends or enough have come. */
export const talk = (
  port: number,
  pieces: readonly (string | Uint8Array)[],
  { answers = 1, hangUp }: { readonly answers?: number; readonly hangUp?: AbortSignal } = {},
): Promise<readonly Answer[]> =>
  new Promise((resolve) => {
    let heard = ''
    const socket = connect(port, '127.0.0.1')
    const end = (): void => {
      socket.destroy()
      resolve(answersIn(heard))
    }
    socket.on('data', (data) => {
      heard += data.toString('latin1')
      if (answersIn(heard).length >= answers) end()
    })
    socket.on('error', () => undefined)
    socket.on('close', end)
    hangUp?.addEventListener('abort', end)
    const writeNext = (index: number): void => {
      const piece = pieces[index]
      if (piece !== undefined && !socket.destroyed) socket.write(piece, () => setImmediate(() => writeNext(index + 1)))
    }
    writeNext(0)
  })

/** The status and the JSON of every whole answer. */
const answersIn = (heard: string): readonly Answer[] => {
  const match = /^HTTP\/1\.1 (\d+)[^]*?\r\n\r\n/.exec(heard)
  if (match === null) return []
  const length = Number(/Content-Length: (\d+)/i.exec(match[0])?.[1] ?? 0)
  const rest = heard.slice(match[0].length)
  if (rest.length < length) return []
  const answer: Answer = [Number(match[1]), length === 0 ? undefined : JSON.parse(rest.slice(0, length))]
  return [answer, ...answersIn(rest.slice(length))]
}

export const jsonHeader = 'Content-Type: application/json\r\n'

export const headOf = (method: string, headers: string, path = '/'): string => `${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`

export const whole = (method: string, body: string | Uint8Array, headers = jsonHeader, path = '/'): readonly (string | Uint8Array)[] => [
  headOf(method, `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`, path),
  body,
]

/** The same bytes in chunks of the given size. */
export const chunked = (body: Uint8Array, size: number): Uint8Array => {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    pieces.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}
