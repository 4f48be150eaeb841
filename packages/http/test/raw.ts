// Requests as they go over a connection, which are not always well-formed, and the replies to them.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { goodKey, orderBody } from './fakes.ts'

export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Splits replies by their Content-Length; interim replies have neither headers nor a body. */
export const repliesIn = (received: string): readonly RawReply[] => {
  const replies: RawReply[] = []
  for (let rest = received; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n') + 4
    const [line = '', ...lines] = rest.slice(0, end - 4).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((one) => [
        one.slice(0, one.indexOf(':')).toLowerCase(),
        one.slice(one.indexOf(':') + 2),
      ]),
    )
    const length = Number(headers['content-length'] ?? 0)
    replies.push({
      status: Number(line.split(' ')[1]),
      headers,
      body: rest.slice(end, end + length),
    })
    rest = rest.slice(end + length)
  }
  return replies
}

/**
 * Writes the pieces one after the other and reads until the server closes the connection. The
 * client never closes it.
 */
export const converse = async (port: number, ...pieces: readonly (string | Uint8Array)[]) => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.on('data', (chunk) => (received += chunk.toString()))
  const ended = once(socket, 'end')
  for (const piece of pieces) {
    socket.write(piece)
    await setImmediate()
  }
  await ended
  socket.destroy()
  return repliesIn(received)
}

export const statusesOf = (replies: readonly RawReply[]) => replies.map(({ status }) => status)

export const host = 'Host: tradeport.example\r\n'
export const get = (target: string, headers = '') =>
  `GET ${target} HTTP/1.1\r\n${host}${headers}\r\n`
export const lastGet = (target: string, headers = '') =>
  get(target, `Connection: close\r\n${headers}`)
export const order = JSON.stringify(orderBody)
export const post = (headers: string, body = '', key = goodKey) =>
  `POST /api/v1/orders HTTP/1.1\r\n${host}X-API-Key: ${key}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`
export const withLength = `Content-Length: ${order.length}\r\n`
export const chunked = 'Transfer-Encoding: chunked\r\n'
