// A connection of a hostile caller: bytes go out as they are, and replies are read strictly.
import { once } from 'node:events'
import { connect } from 'node:net'
import { isInterim, readReply, repliesIn, type WireReply } from './wire.ts'

export interface Connection {
  readonly write: (bytes: string | Buffer) => void
  /** The reply to one request, or a sentence on how it went wrong. */
  readonly reply: (isHead: boolean) => Promise<WireReply | string>
  /**
   * Everything until the service ends the connection.
   * @param isPatient whether this side sends nothing more and never hangs up; otherwise it hangs up
   * when nothing has come for a while
   */
  readonly rest: (
    isPatient: boolean,
  ) => Promise<{ readonly replies: readonly WireReply[]; readonly fault?: string }>
  readonly close: () => void
}

/** Longer than anything may take. */
const patienceMs = 100_000
const quietMs = 150
const nothing = (): void => undefined

export const openConnection = async (port: number): Promise<Connection> => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  let received = Buffer.alloc(0)
  const state = { isClosed: false, wake: nothing }
  const end = (): void => {
    state.isClosed = true
    state.wake()
  }
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    state.wake()
  })
  socket.on('end', end).on('close', end)
  await once(socket, 'connect')
  // What is sent to a peer that has hung up is lost.
  socket.on('error', end)
  const changed = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      state.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return {
    write: (bytes) =>
      void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    reply: async (isHead) => {
      const deadline = Date.now() + patienceMs
      for (;;) {
        const read = readReply(received, 0, isHead)
        if (read.kind === 'broken') return `not a reply of HTTP/1.1: ${read.why}`
        if (read.kind === 'reply') {
          received = received.subarray(read.end)
          if (isInterim(read.reply)) continue
          // What cannot be parsed is refused with a body, to a HEAD as well, and ends the connection.
          const isAlone = received.length === 0 || read.reply.isLast
          return isAlone ? read.reply : 'the reply is followed by more bytes'
        }
        if (state.isClosed) return 'the connection was ended without a reply'
        if (Date.now() >= deadline) return 'nothing was answered'
        await changed(deadline - Date.now())
      }
    },
    rest: async (isPatient) => {
      const deadline = Date.now() + patienceMs
      let isDone = isPatient
      while (!state.isClosed && Date.now() < deadline) {
        const before = received.length
        await changed(isDone ? deadline - Date.now() : quietMs)
        if (isDone || state.isClosed || received.length > before) continue
        socket.end()
        isDone = true
      }
      socket.destroy()
      const { replies, rest } = repliesIn(received, false)
      const final = replies.filter((reply) => !isInterim(reply))
      if (!state.isClosed)
        return { replies: final, fault: 'the connection was neither answered nor ended' }
      if (rest?.kind === 'broken') return { replies: final, fault: rest.why }
      // Where this side hung up, the last reply may be cut.
      const isCut = rest?.kind === 'more' && (isPatient || !isDone)
      return isCut ? { replies: final, fault: 'a reply is cut' } : { replies: final }
    },
    close: () => void socket.destroy(),
  }
}
