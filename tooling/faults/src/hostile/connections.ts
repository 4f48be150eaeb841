// The run of connections: slow and endless clients of every kind, then thousands of idle
// connections, while ordinary clients go on. The service's own limits of time end each, the ordinary
// clients notice nothing, and afterwards nothing is left in memory.
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { inRun, say } from '../run.ts'
import { openConnection } from './connection.ts'
import { faultsOfReply, portOf } from './hostile.ts'
import { post } from './raw.ts'
import { repliesIn } from './wire.ts'
import { checkInstance, startWorld } from './world.ts'

export interface ConnectionsRun {
  /** Of each kind. */
  readonly slow: number
  readonly idle: number
}

interface SlowKind {
  readonly name: string
  /** When it must be over at the latest. */
  readonly mostMs: number
  /** What it is answered; undefined where it is cut while it does not read. */
  readonly status: number | undefined
  /** Whether the answer may be lost, because unread bytes cut the connection. */
  readonly isLossy?: true
  readonly first: string
  /** Then sent again and again. */
  readonly drip?: string
  readonly dripMs?: number
}

/** The service looks for late clients every five seconds. */
const lookMs = 5_000
const headMs = 10_000 + lookMs
const requestMs = 60_000 + lookMs
/** Two looks, 120 seconds apart, must find bytes that nobody reads. */
const stuckMs = 2 * 120_000 + lookMs
const repliesUnread = 40
/** A busy machine may be late. */
const graceMs = 60_000

const host = 'Host: 127.0.0.1\r\n'
const line = `GET /api/v1/symbols HTTP/1.1\r\n${host}`
const slowKinds: readonly SlowKind[] = [
  {
    name: 'heads of 5,000 headers',
    mostMs: headMs,
    status: 431,
    isLossy: true,
    first: `${line}${'X-Flood: y\r\n'.repeat(5_000)}\r\n`,
  },
  {
    name: 'headers of 1 MiB',
    mostMs: headMs,
    status: 431,
    isLossy: true,
    first: `${line}X-Huge: ${'y'.repeat(1_048_576)}\r\n\r\n`,
  },
  {
    name: 'heads that never end',
    mostMs: headMs,
    status: 431,
    isLossy: true,
    first: line,
    drip: `X-More: ${'y'.repeat(500)}\r\n`,
    dripMs: 50,
  },
  { name: 'heads byte by byte', mostMs: headMs, status: 408, first: `${line}X-Slow: `, drip: 'y' },
  { name: 'silent connections', mostMs: headMs, status: 408, first: '' },
  {
    name: 'bodies byte by byte',
    mostMs: requestMs,
    status: 408,
    first: post('Content-Length: 100000\r\n', '{'),
    drip: ' ',
  },
  {
    name: 'bodies chunk by chunk',
    mostMs: requestMs,
    status: 408,
    first: post('Transfer-Encoding: chunked\r\n', '1\r\n{\r\n'),
    drip: '1\r\n \r\n',
  },
  {
    name: 'replies that nobody reads',
    mostMs: stuckMs,
    status: undefined,
    first: `GET /api/v1/openapi.json HTTP/1.1\r\n${host}\r\n`.repeat(repliesUnread),
  },
]
/** A connection waits 65 seconds for a next request. */
const idleKind: SlowKind = {
  name: 'idle connections',
  mostMs: 65_000 + lookMs,
  status: 200,
  first: `GET /api/v1/symbols?search=nothing HTTP/1.1\r\n${host}\r\n`,
}

const ordinaryPaths = [
  '/api/v1/symbols',
  '/api/v1/accounts',
  '/api/v1/orders',
  '/api/v1/positions?accountId={{trading}}',
  '/api/v1/trades/stats?accountId={{trading}}',
]
const ordinaryClients = 8

export const runConnections = (seed: number, { slow, idle: wanted }: ConnectionsRun) =>
  inRun(seed, async (run) => {
    const { instance, fill } = await startWorld(run, { databaseUrl: null, requests: 40_000 })
    const port = portOf(instance.apiUrl)
    const over = new AbortController()
    const faults: string[] = []
    let requests = 0
    let slowestMs = 0
    const askOrdinarily = async (): Promise<void> => {
      const connection = await openConnection(port)
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        const path = ordinaryPaths[turn % ordinaryPaths.length]
        const startedAt = performance.now()
        connection.write(fill(`GET ${path} HTTP/1.1\r\n${host}X-API-Key: {{key}}\r\n\r\n`))
        const reply = await connection.reply(false)
        requests += 1
        slowestMs = Math.max(slowestMs, performance.now() - startedAt)
        if (typeof reply === 'string' || reply.status !== 200)
          faults.push(`an ordinary client: ${typeof reply === 'string' ? reply : reply.status}`)
        else faults.push(...faultsOfReply(reply, false))
        if (typeof reply === 'string') break
        await pause(20)
      }
      connection.close()
    }
    const holdAll = async (kind: SlowKind, count: number): Promise<void> => {
      const held: Promise<Ending>[] = []
      while (held.length < count) {
        // Begun at once, they would only fill the listener's queue.
        if (held.length % 200 === 199) await pause(100)
        held.push(hold(port, kind, fill(kind.first)))
      }
      const endings = await Promise.all(held)
      const times = endings.map(({ afterMs }) => afterMs / 1_000)
      const answers = Map.groupBy(
        endings,
        ({ statuses }) => statuses.slice(0, 2).join(' ') || 'cut',
      )
      say(
        `${kind.name}: ${[...answers].map(([name, own]) => `${name} × ${own.length}`).join(', ')}; over after ${Math.min(...times).toFixed(1)} to ${Math.max(...times).toFixed(1)} s`,
      )
      const wrong = endings.filter((ending) => !isRightEnding(kind, ending))
      if (wrong.length > 0)
        faults.push(`${wrong.length} ${kind.name} ended wrongly: ${JSON.stringify(wrong[0])}`)
    }
    const sayOrdinary = (beside: string): void => {
      say(`ordinary clients beside ${beside}: ${requests}, the slowest ${Math.round(slowestMs)} ms`)
      if (requests === 0) faults.push('ordinary clients were not answered at all')
      requests = 0
      slowestMs = 0
    }

    const asking = Array.from({ length: ordinaryClients }, askOrdinarily)
    // What the first requests leave in memory stays.
    await Promise.all(slowKinds.map((kind) => holdAll(kind, 5)))
    const before = await instance.measure()
    await Promise.all(slowKinds.map((kind) => holdAll(kind, slow)))
    sayOrdinary('slow clients')
    const idle = Math.min(wanted, await allowedConnections())
    if (idle < wanted) say(`this machine lets a process have only ${idle} connections`)
    await holdAll(idleKind, idle)
    sayOrdinary('idle connections')
    over.abort()
    await Promise.all(asking)
    return [...faults, ...checkInstance(instance, [before, await instance.measure()])]
  })

/** How many connections a process of this machine may have beside what it needs itself. */
const allowedConnections = async (): Promise<number> => {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const files = /^Max open files +\d+ +(\d+)/m.exec(limits)?.[1]
  return files === undefined ? Infinity : Number(files) - 1_500
}

interface Ending {
  /** Infinity where the service had not ended it in time. */
  readonly afterMs: number
  readonly statuses: readonly number[]
}

const hold = (port: number, kind: SlowKind, first: string): Promise<Ending> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const pieces: Buffer[] = []
    const timers: NodeJS.Timeout[] = []
    const startedAt = Date.now()
    const end = (afterMs: number): void => {
      for (const timer of timers) clearTimeout(timer)
      socket.destroy()
      const { replies } = repliesIn(Buffer.concat(pieces), false)
      resolve({ afterMs, statuses: replies.map(({ status }) => status) })
    }
    const write = (text: string): void => void (socket.writable && socket.write(text, 'latin1'))
    socket.on('data', (chunk: Buffer) => pieces.push(chunk))
    // The end of the connection shows what was lost.
    socket.on('error', () => undefined)
    socket.once('close', () => end(Date.now() - startedAt))
    socket.once('connect', () => {
      const { mostMs, status, drip, dripMs = 500 } = kind
      if (status === undefined) socket.pause()
      write(first)
      if (drip !== undefined) timers.push(setInterval(() => write(drip), dripMs))
      // A client that does not read notices the end only by reading.
      if (status === undefined) timers.push(setTimeout(() => socket.resume(), mostMs))
      timers.push(setTimeout(() => end(Infinity), mostMs + graceMs))
    })
  })

const isRightEnding = ({ status, isLossy }: SlowKind, { afterMs, statuses }: Ending): boolean => {
  if (afterMs === Infinity) return false
  if (status === undefined) return statuses.length < repliesUnread
  return statuses.length === 0 ? isLossy === true : statuses.join() === String(status)
}
