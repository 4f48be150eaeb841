// A proxy as operators put it before several instances: every request goes to the next one, whatever connection it came on.
import { Agent, createServer, request as sendOn } from 'node:http'
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface RoundRobin {
  readonly url: string
  /** Where the requests that come from now on go, in turn; resolves once nothing is under way where they went before. */
  readonly pointTo: (urls: readonly string[]) => Promise<void>
  readonly close: () => Promise<void>
}

// Of one connection each, or written anew by whoever passes a message on.
const notPassedOn = ['connection', 'keep-alive', 'transfer-encoding', 'x-forwarded-for']

/** Where it calls its instances from: another address than its callers have, so that an instance can trust it and not them. */
export const proxyAddress = '127.0.0.2'

export const startRoundRobin = async (): Promise<RoundRobin> => {
  const agent = new Agent({ keepAlive: true, localAddress: proxyAddress })
  let targets: readonly string[] = []
  let turn = 0
  const underWay = new Map<ServerResponse, string>()
  const server = createServer((request, response) => {
    turn += 1
    const target = targets[turn % targets.length]
    if (target === undefined) return void response.writeHead(503).end()
    underWay.set(response, target)
    response.on('close', () => underWay.delete(response))
    passOn(request, response, target, agent)
  })
  // It takes what its instances would take, and leaves it to them to refuse the rest.
  server.requestTimeout = 0
  // By itself it would hang up after six seconds without a request, and on a busy machine just as one arrives.
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    // An instance that is ended while a request is still on its way to it hangs up on that request, whatever it does with those it has read.
    pointTo: async (urls) => {
      targets = urls
      const leaving = [...underWay].flatMap(([response, target]) => (urls.includes(target) ? [] : [once(response, 'close')]))
      await Promise.all(leaving)
    },
    close: async () => {
      agent.destroy()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const passOn = (request: IncomingMessage, response: ServerResponse, target: string, agent: Agent): void => {
  const { hostname, port } = new URL(target)
  const onward = sendOn({ hostname, port, agent, method: request.method, path: request.url, headers: headersFor(request) })
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders))
    answer.pipe(response)
    answer.on('error', () => response.destroy())
  })
  onward.on('error', () => fail(request, response, onward))
  response.on('close', () => {
    if (!response.writableFinished) onward.destroy()
  })
  request.pipe(onward)
}

/** An instance that hung up: what it had begun to say is cut off here as well. */
const fail = (request: IncomingMessage, response: ServerResponse, onward: ClientRequest): void => {
  request.unpipe(onward).resume()
  if (response.headersSent) response.destroy()
  else response.writeHead(502).end()
}

const headersFor = ({ rawHeaders, headers, socket }: IncomingMessage): readonly string[] => {
  const addresses = [headers['x-forwarded-for'] ?? [], socket.remoteAddress ?? []].flat()
  const body = headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']
  return [...passedOn(rawHeaders), ...body, 'X-Forwarded-For', addresses.join(', ')]
}

// Names and values in turn, repeated ones too.
const passedOn = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_, index) => !notPassedOn.includes(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ''))
