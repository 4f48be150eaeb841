// One client with valid keys that sends hostile JSON bodies as fast as it can for some seconds, and
// prints how many requests were answered with each status. `node hostile-client.js <options as
// JSON>`.
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'

export interface HostileOptions {
  /** The address of the API. */
  readonly api: string
  readonly keys: readonly string[]
  readonly seconds: number
  readonly localAddress?: string | undefined
}

/** The largest body that the API accepts. */
const bodyBytes = 10 * 1024 * 1024
const connections = 20
const unfinishedMs = 2_000

const { api, keys, seconds, localAddress } = JSON.parse(process.argv[2] ?? '') as HostileOptions

/** So many repetitions between start and end as fit into a body. */
const filled = (start: string, repeated: string, end: string): Buffer => {
  const count = Math.floor((bodyBytes - start.length - end.length) / repeated.length)
  return Buffer.from(start + repeated.repeat(count) + end)
}

const manyMembers = (): Buffer => {
  const members = Array.from({ length: bodyBytes / 12 }, (_, index) => `"${index}":0`)
  return Buffer.from(`{${members.join(',')}}`)
}

interface HostileBody {
  readonly bytes: Buffer
  /** How many bytes are sent of those that the request announces. */
  readonly sent: number
}

const whole = (bytes: Buffer): HostileBody => ({ bytes, sent: bytes.length })

const bodies: readonly HostileBody[] = [
  whole(filled('[0', ',0', ']')),
  whole(manyMembers()),
  whole(Buffer.from('['.repeat(bodyBytes / 2) + ']'.repeat(bodyBytes / 2))),
  whole(filled('[[]', ',[]', ']')),
  whole(filled('{"url":"', String.raw`\u0074p_live`, '"}')),
  { bytes: filled('[0', ',0', ']'), sent: bodyBytes - 100 },
]

// None of these routes has a limit of its own beside the plan's, which would refuse most requests
// before their bodies are read.
const routes = [
  ['POST', '/api/v1/webhooks'],
  ['PUT', `/api/v1/orders/${randomUUID()}`],
  ['GET', '/api/v1/positions'],
] as const

const statuses: Record<string, number> = {}

const send = (
  [method, path]: (typeof routes)[number],
  { bytes, sent }: HostileBody,
  key: string,
): Promise<number> =>
  new Promise((resolvePromise) => {
    const options = {
      method,
      agent: false,
      ...(localAddress !== undefined && { localAddress }),
      headers: {
        'X-API-Key': key,
        'Content-Type': 'application/json',
        'Content-Length': bytes.length,
      },
    }
    let status = 0
    const sending = request(`${api}${path}`, options, (response) => {
      status = response.statusCode ?? 0
      response.resume()
      // Whatever is still unsent is not sent: the next request is the greater burden.
      response.once('end', () => sending.destroy())
      response.once('error', () => undefined)
    })
    sending.once('error', () => undefined)
    sending.once('close', () => resolvePromise(status))
    if (sent === bytes.length) {
      sending.end(bytes)
      return
    }
    sending.write(bytes.subarray(0, sent))
    setTimeout(() => sending.destroy(), unfinishedMs).unref()
  })

const sendForever = async (first: number): Promise<never> => {
  for (let turn = first; ; turn += 1) {
    const [route, body] = [
      routes[turn % routes.length],
      bodies[Math.floor(turn / routes.length) % bodies.length],
    ]
    if (route === undefined || body === undefined) continue
    const status = await send(route, body, keys[turn % keys.length] ?? '')
    statuses[status] = (statuses[status] ?? 0) + 1
  }
}

for (let connection = 0; connection < connections; connection += 1) void sendForever(connection)
setTimeout(() => {
  process.stdout.write(JSON.stringify(statuses))
  process.exit(0)
}, seconds * 1_000)
