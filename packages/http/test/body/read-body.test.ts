// What a body may be, and what is answered to every other.
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBodyBudget, maxBodyBytes } from '../../src/body/read-body.ts'
import { chunked, headOf, jsonHeader, runBodyServer, talk, whole } from './body-server.ts'
import type { Answer, BodyServer } from './body-server.ts'

const fault = (message: string): object => ({
  _tag: 'ValidationError',
  issues: [{ path: 'body', message: expect.stringContaining(message) as string }],
})
const tooLarge = (limitBytes: number): object => ({ _tag: 'PayloadTooLarge', limitBytes })
const unauthorized = { _tag: 'Unauthorized' }
const asChunked = 'Transfer-Encoding: chunked\r\n'
const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
const listOf = (values: number, value = '0'): string =>
  `{"a":[${Array(values - 2)
    .fill(value)
    .join(',')}]}`
const padded = (bytes: number): string => `{}${' '.repeat(bytes - 2)}`

let server: BodyServer
beforeAll(async () => {
  server = await runBodyServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const answerTo = async (pieces: readonly (string | Uint8Array)[]): Promise<unknown> => {
  await talk(server.port, pieces)
  return server.outcomes.at(-1)
}

const expecting = (length: number): string => headOf('POST', `${jsonHeader}Expect: 100-continue\r\nContent-Length: ${length}\r\n`)
const statusesTo = async (...pieces: string[]): Promise<readonly number[]> =>
  (await talk(server.port, pieces, { answers: 2 })).map(([status]) => status)
const credential = (name: string): string => `${jsonHeader}X-Credential: ${name}\r\n`

describe('a body that the route has', () => {
  it.each<readonly [text: string, body: object, headers: string]>([
    ['{}', {}, jsonHeader],
    ['{"a":[1,{"b":null}],"c":"\\u00e9é"}', { a: [1, { b: null }], c: 'éé' }, jsonHeader],
    ['\uFEFF{"a":1}', { a: 1 }, jsonHeader],
    ['{"a":1,"a":2}', { a: 2 }, jsonHeader],
    ['{}', {}, 'Content-Type: Application/JSON;charset="UTF-8"\r\n'],
    ['{}', {}, `${jsonHeader}Content-Encoding: Identity\r\n`],
  ])('%s is read', async (text, body, headers) => {
    expect(await answerTo(whole('POST', text, headers))).toEqual({ body })
  })

  it.each<readonly [what: string, pieces: readonly (string | Uint8Array)[], refusal: object]>([
    ['none', [headOf('POST', '')], fault('required')],
    ['an empty one', whole('POST', ''), fault('required')],
    ['no JSON', whole('POST', '{"a":1'), fault('JSON')],
    ['no UTF-8', whole('POST', Buffer.from('7b22ff223a317d', 'hex')), fault('UTF-8')],
    ['half a character at the end', whole('POST', Buffer.from('7b7dc3', 'hex')), fault('UTF-8')],
    ['a list', whole('POST', '[1]'), fault('got a list')],
    ['null', whole('POST', 'null'), fault('got null')],
    ['a string', whole('POST', '"a"'), fault('got a string')],
    ['no type', whole('POST', '{}', ''), fault('got none')],
    ['another type', whole('POST', '{}', 'Content-Type: text/plain\r\n'), fault('got text/plain')],
    ['another charset', whole('POST', '{}', 'Content-Type: application/json; charset=latin1\r\n'), fault('charset=latin1')],
    ['an encoding', whole('POST', '{}', `${jsonHeader}Content-Encoding: gzip\r\n`), fault('got gzip')],
    ['a length over 10 MiB', [headOf('POST', `${jsonHeader}Content-Length: 10485761\r\n`)], tooLarge(10_485_760)],
    [
      'chunks over 10 MiB',
      [headOf('POST', jsonHeader + asChunked), chunked(Buffer.from(padded(maxBodyBytes + 1)), 65_536)],
      tooLarge(10_485_760),
    ],
    ['broken chunks', [headOf('POST', jsonHeader + asChunked), '2\r\n{}zz\r\n'], fault('ended before')],
    ['10,001 values', whole('POST', listOf(10_001)), fault('at most 10000')],
    ['10,001 values and no end', [headOf('POST', jsonHeader + asChunked), '1ffff\r\n[', '0,'.repeat(10_000)], fault('at most 10000')],
    ['a depth of 65', whole('POST', nested(65)), fault('at most 64')],
    ['a depth of 65 and no end', [headOf('POST', jsonHeader + asChunked), '1ffff\r\n', '['.repeat(65)], fault('at most 64')],
    ['a name of 257 bytes', whole('POST', `{"a":{"${'x'.repeat(257)}":0}}`), fault('at most 256')],
    ['chunks of a byte', [headOf('POST', jsonHeader + asChunked), chunked(Buffer.from(padded(2_000)), 1)], fault('chunks')],
    ['a field named as a credential', whole('POST', '{"a":1,"X-Api-Key":2}'), unauthorized],
    ['one with an escape', whole('POST', '{"t\\u006fken":2}'), unauthorized],
    ['a name that is an API key', whole('POST', '{"tp_live_x":2}'), unauthorized],
    ['an API key', whole('POST', '{"a":[{"b":"tp_live_x"}]}'), unauthorized],
    ['an API key with an escape', whole('POST', '{"a":"\\u0074p_live_x"}'), unauthorized],
  ])('%s is refused', async (_, pieces, refusal) => {
    expect(await answerTo(pieces)).toEqual(refusal)
  })

  it.each([
    ['10 MiB', padded(maxBodyBytes)],
    ['10,000 values', listOf(10_000)],
    ['10,000 values with names', `{${Array.from({ length: 9_999 }, (_, index) => `"${index}":""`).join(',')}}`],
    ['a depth of 64', nested(64)],
    ['a name of 256 bytes', `{"${'x'.repeat(256)}":0}`],
    ['names that are nearly credentials', '{"tokens":1,"a":{"token":1,"tp_live_x":1},"b":"my tp_live_x","c":"TP_LIVE_"}'],
  ])('may have %s', async (_, text) => {
    expect(await answerTo(whole('POST', text))).toEqual({ body: JSON.parse(text) })
  })

  it('may come in a thousand chunks of a byte', async () => {
    expect(await answerTo([headOf('POST', jsonHeader + asChunked), chunked(Buffer.from(padded(1_000)), 1)])).toEqual({ body: {} })
  })

  it('may hold credentials where the route says so', async () => {
    expect(await answerTo(whole('POST', '{"token":"tp_live_x"}', jsonHeader, '/secrets'))).toEqual({ body: { token: 'tp_live_x' } })
  })

  it('is asked for where the sender waits, and not where its head is refused', async () => {
    expect(await statusesTo(expecting(2), '{}')).toEqual([100, 200])
    expect(await statusesTo(expecting(maxBodyBytes + 1))).toEqual([400])
  })
})

describe('a body that the route does not have', () => {
  it.each<readonly [what: string, pieces: readonly (string | Uint8Array)[], answer: object]>([
    ['none', [headOf('DELETE', '')], { body: undefined }],
    ['an object', whole('DELETE', '{"a":1}'), { body: undefined }],
    ['what is no JSON', whole('GET', Buffer.from('{"token":ÿ', 'latin1'), ''), { body: undefined }],
    ['a list', whole('GET', '["tp_live_x"]'), { body: undefined }],
    ['too deep a one', whole('GET', '['.repeat(65_536)), { body: undefined }],
    ['too many values', whole('GET', `{"a":[0${',0'.repeat(30_000)}]}`), { body: undefined }],
    ['64 KiB', whole('GET', padded(65_536)), { body: undefined }],
    ['more', whole('GET', padded(65_537)), tooLarge(65_536)],
    ['more in chunks', [headOf('GET', asChunked), chunked(Buffer.from(padded(65_537)), 4_096)], tooLarge(65_536)],
    ['a credential', whole('GET', '{"token":1}'), unauthorized],
    ['a credential among many values', whole('GET', `{"a":[0${',0'.repeat(30_000)}],"token":1}`), unauthorized],
    ['an API key below much', whole('GET', `{"a":${'['.repeat(5_000)}"tp_live_x"${']'.repeat(5_000)}}`), unauthorized],
    ['half of one', [headOf('GET', asChunked), '2\r\n{}zz\r\n'], fault('ended before')],
  ])('%s', async (_, pieces, answer) => {
    expect(await answerTo(pieces)).toEqual(answer)
  })
})

it('a sender that writes all of a refused body before it reads sees the answer and goes on', async () => {
  const refused = [headOf('POST', `${jsonHeader}Content-Length: ${4 * maxBodyBytes}\r\n`), Buffer.alloc(4 * maxBodyBytes, 0x20)]
  const tooMany = whole('POST', `[${'0,'.repeat(1_000_000)}`)
  const answers = await talk(server.port, [...refused, ...tooMany, ...whole('POST', '{}')], { answers: 3 })
  expect(answers.map(([, json]) => json)).toEqual([tooLarge(maxBodyBytes), fault('at most 10000'), { body: {} }])
})

const anyBody = (name: string) =>
  fc.constantFrom(
    whole('POST', padded(700), credential(name)),
    whole('POST', '[', credential(name)),
    whole('POST', '{"token":1}', credential(name)),
    whole('POST', nested(65), credential(name)),
    whole('GET', padded(300), credential(name)),
    [headOf('POST', `${credential(name)}Content-Length: 10485761\r\n`)],
    [headOf('POST', `${credential(name)}Content-Length: 900\r\n`), ' '.repeat(800)],
    [headOf('POST', credential(name) + asChunked), '2\r\n{}zz\r\n'],
    [headOf('POST', `${credential(name)}Content-Length: 900\r\n`)],
  )

const sendUnfinished = (port: number, name: string, bytes: number): Promise<readonly Answer[]> =>
  talk(port, [headOf('POST', `${credential(name)}Content-Length: ${bytes + 1}\r\n`), ' '.repeat(bytes)])

describe('the budget', () => {
  it('lets a credential have two bodies that are large or slow at a time, any number of others, and other credentials theirs', async () => {
    await using limited = await runBodyServer()
    const answer = async (name: string, body: string): Promise<unknown> =>
      (await talk(limited.port, whole('POST', body, credential(name))))[0]?.[1]
    const many = await Promise.all(Array.from({ length: 20 }, () => answer('a', '{}')))
    expect(many).toEqual(many.map(() => ({ body: {} })))
    const opened = [sendUnfinished(limited.port, 'a', 1), sendUnfinished(limited.port, 'a', 1)]
    await setTimeout(500)
    const refused = { _tag: 'RateLimitExceeded', exceeded: { scope: 'bodies' }, retryAfterSeconds: 1 }
    expect(await answer('a', padded(70_000))).toEqual(refused)
    const third = sendUnfinished(limited.port, 'a', 1)
    expect([await answer('a', '{}'), await answer('b', padded(70_000))]).toEqual([{ body: {} }, { body: {} }])
    limited.server.closeAllConnections()
    await Promise.all([...opened, third])
    expect(await answer('a', padded(70_000))).toEqual({ body: {} })
  })

  it('refuses the bytes that do not fit, and accepts them once others are gone', async () => {
    await using limited = await runBodyServer(createBodyBudget({ totalBytes: 1_000 }))
    const opened = sendUnfinished(limited.port, 'a', 600)
    await setTimeout(100)
    const answer = async (): Promise<unknown> => (await talk(limited.port, whole('POST', padded(600), credential('b'))))[0]?.[1]
    expect(await answer()).toMatchObject({ _tag: 'ServiceUnavailable', retryAfterSeconds: 1 })
    limited.server.closeAllConnections()
    await opened
    expect(await answer()).toEqual({ body: {} })
  })

  it('is whole again after any mix of finished, refused and aborted bodies', async () => {
    const totalBytes = 2_000
    await using limited = await runBodyServer(createBodyBudget({ totalBytes }))
    const bodies = fc.array(fc.constantFrom('a', 'b').chain(anyBody), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(bodies, fc.nat({ max: 20 }), async (sent, waitMs) => {
        const hangUp = AbortSignal.timeout(waitMs)
        await Promise.all(sent.map((one) => talk(limited.port, one, { hangUp })))
        for (const name of ['a', 'b'])
          await expect.poll(() => talk(limited.port, whole('POST', padded(totalBytes), credential(name)))).toEqual([[200, { body: {} }]])
      }),
      { numRuns: 50 },
    )
  })
})
