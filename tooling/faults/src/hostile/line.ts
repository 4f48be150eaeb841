// Connections of a hostile caller: one that is kept and asked one request after the other, and one
// for raw bytes alone.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { isInterim, readReply, repliesIn } from './wire.ts'
import type { WireReply } from './wire.ts'

export type Told =
  | { readonly kind: 'reply'; readonly reply: WireReply }
  | { readonly kind: 'closed' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'broken'; readonly why: string }

export interface Line {
  /** Sends one request, on the connection of the one before where that goes on. */
  readonly ask: (request: Buffer, isHead: boolean) => Promise<Told>
  readonly close: () => void
}

/** Longer than anything may take: a request of which nothing is heard for so long hangs. */
export const patienceMs = 100_000

/**
 * A connection that has waited for longer may just be ended by the service, which is nobody's fault
 * (RFC 9112, 9.3.1).
 */
const mostIdleMs = 20_000

/** Longer than it takes until the service looks for those who are late. */
const quietMs = 150

interface Open {
  readonly socket: Socket
  received: Buffer
  isClosed: boolean
  wake: () => void
}

export const createLine = (port: number): Line => {
  let open: Open | undefined
  let usedAt = 0
  const drop = (): void => {
    open?.socket.destroy()
    open = undefined
  }
  return {
    ask: async (request, isHead) => {
      if (open?.isClosed === true || Date.now() - usedAt > mostIdleMs) drop()
      open ??= await dial(port)
      const told = await exchange(open, request, isHead)
      usedAt = Date.now()
      if (told.kind !== 'reply' || told.reply.isLast) drop()
      return told
    },
    close: drop,
  }
}

const dial = async (port: number): Promise<Open> => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const open: Open = { socket, received: Buffer.alloc(0), isClosed: false, wake: () => undefined }
  const ended = (): void => {
    open.isClosed = true
    open.wake()
  }
  socket.on('data', (chunk: Buffer) => {
    open.received = open.received.length === 0 ? chunk : Buffer.concat([open.received, chunk])
    open.wake()
  })
  socket.on('end', ended).on('close', ended)
  await once(socket, 'connect')
  // What is sent to somebody who has hung up is lost, which is what the reading tells.
  socket.on('error', ended)
  return open
}

const exchange = async (open: Open, request: Buffer, isHead: boolean): Promise<Told> => {
  if (open.received.length > 0) return { kind: 'broken', why: 'bytes that nobody asked for' }
  open.socket.write(request)
  const deadline = Date.now() + patienceMs
  for (;;) {
    const read = open.received.length === 0 ? undefined : readReply(open.received, 0, isHead)
    if (read?.kind === 'broken') return read
    if (read?.kind === 'reply') {
      open.received = open.received.subarray(read.end)
      if (isInterim(read.reply)) continue
      return { kind: 'reply', reply: read.reply }
    }
    if (open.isClosed) return { kind: 'closed' }
    if (Date.now() >= deadline) return { kind: 'silent' }
    await changed(open, deadline - Date.now())
  }
}

const changed = (open: Open, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    open.wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })

export interface RawTold {
  readonly replies: readonly WireReply[]
  /** How it went wrong; undefined where all that came was whole replies, and then the end. */
  readonly fault: string | undefined
}

/**
 * Sends bytes on a connection of their own and reads until the service ends it.
 * @param isPatient whether nothing ever follows, so that the service has to lose patience;
 * otherwise this side ends when it has been quiet for a while
 */
export const tellRaw = async (
  port: number,
  pieces: readonly Buffer[],
  isPatient: boolean,
): Promise<RawTold> => {
  const open = await dial(port)
  for (const piece of pieces) {
    open.socket.write(piece)
    if (pieces.length > 1) await pause(1)
  }
  const deadline = Date.now() + patienceMs
  let isEnded = false
  while (!open.isClosed && Date.now() < deadline) {
    const before = open.received.length
    await changed(open, isPatient || isEnded ? deadline - Date.now() : quietMs)
    if (isPatient || isEnded || open.isClosed || open.received.length > before) continue
    open.socket.end()
    isEnded = true
  }
  open.socket.destroy()
  const { replies, rest } = repliesIn(open.received, false)
  if (!open.isClosed)
    return {
      replies,
      fault: `the connection was neither answered nor ended within ${patienceMs / 1_000} seconds`,
    }
  if (rest?.kind === 'broken') return { replies, fault: rest.why }
  // This side ended before all had come.
  return {
    replies,
    fault: rest?.kind === 'more' && !isEnded ? 'a reply that ends in the middle' : undefined,
  }
}
