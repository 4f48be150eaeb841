// Thousands of connections that ask once and then say nothing more.
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface Kept {
  readonly mostAtOnce: number
  /** When they were ended, from their replies on: the first and the last. */
  readonly seconds: string
  readonly faults: readonly string[]
}

/** What a process needs for everything else. */
const reserved = 1_500
/** At once, so that the listener's queue is not what is tried. */
const dialled = 200
/** A connection waits for a next request for 65 seconds; a busy machine may be late. */
const mostMs = 65_000 + 25_000
const request = 'GET /api/v1/symbols?search=nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

/** How many connections a process of this machine may have beside what it needs. */
export const allowedConnections = async (): Promise<number> => {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const files = /^Max open files +(?:\d+|unlimited) +(\d+|unlimited)/m.exec(limits)?.[1]
  return files === undefined || files === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(files) - reserved
}

export const keepIdle = async (port: number, count: number): Promise<Kept> => {
  const faults: string[] = []
  const endings: Promise<number | undefined>[] = []
  let [open, mostAtOnce] = [0, 0]
  const keepOne = async (): Promise<void> => {
    const socket = connect({ port, host: '127.0.0.1' })
    const why = await beginningOf(socket)
    if (why !== undefined) return void faults.push(`an idle connection did not begin: ${why}`)
    open += 1
    mostAtOnce = Math.max(mostAtOnce, open)
    endings.push(
      endOf(socket).finally(() => {
        open -= 1
      }),
    )
  }
  for (let made = 0; made < count; made += dialled) await Promise.all(Array.from({ length: Math.min(dialled, count - made) }, keepOne))
  const times = (await Promise.all(endings)).map((ms) => (ms === undefined ? undefined : ms / 1_000))
  const ended = times.filter((seconds) => seconds !== undefined)
  const held = times.length - ended.length
  if (held > 0) faults.push(`${held} idle connections were still held after ${mostMs / 1_000} s`)
  const [first, last] = [ended.reduce((a, b) => Math.min(a, b), Infinity), ended.reduce((a, b) => Math.max(a, b), 0)]
  return { mostAtOnce, seconds: `${first.toFixed(1)} to ${last.toFixed(1)}`, faults: faults.slice(0, 10) }
}

/** Why it was not answered; undefined where it was. */
const beginningOf = (socket: Socket): Promise<string | undefined> =>
  new Promise((resolve) => {
    socket.on('error', (error) => resolve(String(error)))
    socket.once('close', () => resolve('it was ended'))
    socket.once('connect', () => socket.write(request))
    socket.once('data', (reply: Buffer) => {
      const line = reply.toString('latin1').split('\r\n', 1)[0]
      resolve(line === 'HTTP/1.1 200 OK' ? undefined : line)
    })
  })

const endOf = (socket: Socket): Promise<number | undefined> =>
  new Promise((resolve) => {
    const startedAt = Date.now()
    const timer = setTimeout(() => {
      resolve(undefined)
      socket.destroy()
    }, mostMs)
    socket.resume()
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(Date.now() - startedAt)
    })
  })
