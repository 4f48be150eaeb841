// Clients who hold a connection for as long as they are let: with heads that are too large or never
// end, with bodies that come byte by byte, without a word, and without ever reading. What the
// service says of its own patience (packages/http) is what each of them must be ended by.
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { repliesIn } from './wire.ts'

export interface SlowKind {
  readonly name: string
  /** When it must be over at the latest, from the connection on. */
  readonly mostMs: number
  /** What it is told; undefined where it is told nothing, or does not read. */
  readonly status: number | undefined
  /** Whether a telling may be lost, because bytes that nobody reads cut the connection. */
  readonly isLossy?: true
  readonly begin: (socket: Socket, every: (ms: number, turn: () => void) => void) => void
}

export interface Ending {
  /** undefined where the service had not ended it when it was given up. */
  readonly afterMs: number | undefined
  readonly statuses: readonly number[]
}

/** The service looks for those who are late every five seconds. */
const lookMs = 5_000
const headMs = 10_000 + lookMs
const requestMs = 60_000 + lookMs
/**
 * Twice, since at the first time the bytes that wait are looked at, and only at the second whether
 * they still do.
 */
const stuckMs = 2 * 120_000 + lookMs

const host = 'Host: 127.0.0.1\r\n'
const line = `GET /api/v1/symbols HTTP/1.1\r\n${host}`
const post = (headers: string): string =>
  `POST /api/v1/orders HTTP/1.1\r\n${host}X-API-Key: {{key:full}}\r\nContent-Type: application/json\r\n${headers}\r\n`
const dripMs = 500
/** Of a connection; more than lie in the buffers of the machine. */
export const repliesUnread = 40

export const slowKinds: readonly SlowKind[] = [
  {
    name: 'heads of 5,000 headers',
    mostMs: headMs,
    status: 431,
    isLossy: true,
    begin: (socket) => void socket.write(`${line}${'X-Flood: y\r\n'.repeat(5_000)}\r\n`),
  },
  {
    name: 'headers of 1 MiB',
    mostMs: headMs,
    status: 431,
    isLossy: true,
    begin: (socket) => void socket.write(`${line}X-Huge: ${'y'.repeat(1_048_576)}\r\n\r\n`),
  },
  {
    name: 'heads that never end',
    mostMs: headMs,
    status: 431,
    isLossy: true,
    begin: (socket, every) => {
      socket.write(line)
      every(50, () => socket.write(`X-More: ${'y'.repeat(500)}\r\n`))
    },
  },
  {
    name: 'heads byte by byte',
    mostMs: headMs,
    status: 408,
    begin: (socket, every) => {
      socket.write(`${line}X-Slow: `)
      every(dripMs, () => socket.write('y'))
    },
  },
  { name: 'connections without a word', mostMs: headMs, status: 408, begin: () => undefined },
  {
    name: 'bodies byte by byte',
    mostMs: requestMs,
    status: 408,
    begin: (socket, every) => {
      socket.write(`${post('Content-Length: 100000\r\n')}{`)
      every(dripMs, () => socket.write(' '))
    },
  },
  {
    name: 'bodies chunk by chunk',
    mostMs: requestMs,
    status: 408,
    begin: (socket, every) => {
      socket.write(`${post('Transfer-Encoding: chunked\r\n')}1\r\n{\r\n`)
      every(dripMs, () => socket.write('1\r\n \r\n'))
    },
  },
  {
    name: 'replies that nobody reads',
    mostMs: stuckMs,
    status: undefined,
    begin: (socket) => {
      socket.pause()
      socket.write(`GET /api/v1/openapi.json HTTP/1.1\r\n${host}\r\n`.repeat(repliesUnread))
    },
  },
]

/** Asks once and then says nothing more: a connection waits for a next request for 65 seconds. */
export const idleKind: SlowKind = {
  name: 'idle connections',
  mostMs: 65_000 + lookMs,
  status: 200,
  begin: (socket) =>
    void socket.write(`GET /api/v1/symbols?search=nothing HTTP/1.1\r\n${host}\r\n`),
}

/** Nobody else was kept waiting, but a busy machine may be late. */
const graceMs = 60_000

/** @param fill what stands in the places for keys */
export const holdConnection = (
  port: number,
  kind: SlowKind,
  fill: (text: string) => string,
): Promise<Ending> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const pieces: Buffer[] = []
    const timers: NodeJS.Timeout[] = []
    const write = socket.write.bind(socket)
    // Bytes that are written to somebody who has hung up are lost, which is what the end tells.
    const speaker = {
      write: (text: string) => socket.writable && write(fill(text), 'latin1'),
      pause: () => socket.pause(),
    }
    let startedAt = 0
    const over = (afterMs: number | undefined): void => {
      for (const timer of timers) clearInterval(timer)
      socket.destroy()
      const { replies } = repliesIn(Buffer.concat(pieces), false)
      resolve({ afterMs, statuses: replies.map(({ status }) => status) })
    }
    socket.on('data', (chunk: Buffer) => pieces.push(chunk))
    socket.on('error', () => undefined)
    socket.once('close', () => over(Date.now() - startedAt))
    socket.once('connect', () => {
      startedAt = Date.now()
      kind.begin(speaker as Socket, (ms, turn) => void timers.push(setInterval(turn, ms)))
      // Who does not read learns of the end by reading at last.
      if (kind.status === undefined) timers.push(setTimeout(() => socket.resume(), kind.mostMs))
      timers.push(setTimeout(() => over(undefined), kind.mostMs + graceMs))
    })
  })

/** A sentence for each promise that the service did not keep to clients of a kind. */
export const faultsOfEndings = (
  { name, mostMs, status, isLossy }: SlowKind,
  endings: readonly Ending[],
): readonly string[] => {
  const held = endings.filter(({ afterMs }) => afterMs === undefined).length
  const wrong = endings.filter(({ statuses }) => !isAsTold(statuses, status, isLossy === true))
  return [
    ...(held === 0
      ? []
      : [`${held} ${name} were still held after ${(mostMs + graceMs) / 1_000} s`]),
    ...(wrong.length === 0
      ? []
      : [
          `${wrong.length} ${name} were told ${wrong[0]?.statuses.join(', ') || 'nothing'} instead of ${status ?? 'being cut'}`,
        ]),
  ]
}

const isAsTold = (
  statuses: readonly number[],
  status: number | undefined,
  isLossy: boolean,
): boolean => {
  if (status === undefined)
    return statuses.length < repliesUnread && statuses.every((one) => one === 200)
  return statuses.length === 0 ? isLossy : statuses.length === 1 && statuses[0] === status
}
