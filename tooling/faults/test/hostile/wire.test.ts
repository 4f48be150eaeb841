// The reader of replies takes what HTTP/1.1 is, and nothing else.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readReply, repliesIn } from '../../src/hostile/wire.ts'

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\n{}'
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\na\r\n"a":12345}\r\n0\r\n\r\n'
const last = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

describe('reading replies', () => {
  it('takes one after the other, with a length or in chunks', () => {
    const { replies, rest } = repliesIn(bytes(`HTTP/1.1 100 Continue\r\n\r\n${ok}${chunked}${last}`), false)
    expect(rest).toBeUndefined()
    expect(replies.map(({ status, body, isLast }) => [status, body.toString(), isLast])).toEqual([
      [100, '', false],
      [200, '{}', false],
      [200, '{"a":12345}', false],
      [400, '', true],
    ])
    expect(replies[1]?.headers).toEqual([
      ['Content-Length', '2'],
      ['X', 'y'],
    ])
  })

  it('knows that a HEAD, a 204 and a 304 have no body, whatever length they tell', () => {
    expect(readReply(bytes(ok.slice(0, -2)), 0, true)).toMatchObject({ kind: 'reply', reply: { status: 200 } })
    expect(readReply(bytes('HTTP/1.1 304 Not Modified\r\n\r\n'), 0, false)).toMatchObject({ kind: 'reply', reply: { status: 304 } })
  })

  it('asks for more wherever a reply is cut', () => {
    for (const whole of [ok, chunked, last])
      fc.assert(fc.property(fc.nat(whole.length - 1), (at) => readReply(bytes(whole.slice(0, at)), 0, false).kind === 'more'))
  })

  it.each([
    ['what is no reply', 'SSH-2.0\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 99 No\r\nContent-Length: 0\r\n\r\n'],
    ['another version', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nContent-Length 0\r\n\r\n'],
    ['a header with a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n'],
    ['a header with a line feed in it', 'HTTP/1.1 200 OK\r\nX: a\nb\r\nContent-Length: 0\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['no length', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
    ['a chunk of another length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}}}\r\n'],
  ])('finds %s broken', (_, text) => {
    expect(readReply(bytes(text), 0, false).kind).toBe('broken')
  })
})
