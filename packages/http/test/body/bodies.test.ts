// What a body may be, and what is answered to every other.
import { times } from '@tradeport/testkit'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { scopes } from '@tradeport/domain/access'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { maxBodyBytes } from '../../src/fields.ts'
import {
  accountId,
  closedPosition,
  credential,
  fakeDependencies,
  fakeIdempotency,
  fakeUseCases,
  goodKey,
  jsonRequest,
  provenance,
  runApi,
  send,
  type SentRequest,
  lasting,
} from '../fakes.ts'
import { converse, host, lastGet, repliesIn, statusesOf } from '../raw.ts'
import { chunksOf, listOf, nested } from './json-texts.ts'

const target = '/api/v1/positions/x/close'
const padded = (bytes: number) => `{}${' '.repeat(bytes - 2)}`
const asChunks = { 'transfer-encoding': 'chunked' }

const volumes: unknown[] = []
const api = await lasting(
  runApi({
    // Each key is a credential of its own.
    identifyCaller: ({ apiKey = '' }) => TE.right(credential(scopes, { id: apiKey })),
    closePosition: (_, { body: { volume } }) => {
      volumes.push(volume)
      return TE.right({ data: closedPosition, provenance })
    },
  }),
)

/** The volume that the use case was given, or the code and the first fault. */
const outcomeOf = async (body: SentRequest['body'], headers: SentRequest['headers'] = {}) => {
  volumes.length = 0
  const { status, json } = await send(api, target, {
    ...jsonRequest('POST', {}, headers),
    ...(body === undefined ? {} : { body }),
  })
  if (status === 200) return { volume: volumes[0] }
  return json.error?.details?.issues?.[0]?.message ?? json.error?.code
}

it.for<readonly [unknown, string | Uint8Array, SentRequest['headers']?]>([
  [{ volume: 1 }, '{"volume":1}'],
  [{ volume: 2 }, '\uFEFF{"volum\\u0065":2}'],
  ['each field must be sent once; got two fields of one name', '{"volume":1,"volum\\u0065":2}'],
  [
    'each field must be sent once; got two fields of one name',
    '{"volume":[{"a":1,"b":{}},{"a":1,"b":2,"a":1}]}',
  ],
  [
    {},
    padded(maxBodyBytes),
    { 'content-type': 'Application/JSON;charset="UTF-8"; ', 'content-encoding': 'Identity' },
  ],
  ['body is required; it must be an object, which may be empty: {}', ''],
  ['body is required; it must be an object, which may be empty: {}', '', asChunks],
  ['the body must be JSON in UTF-8; got text that is not JSON after 6 characters', '{"a":1'],
  ['the body must be JSON in UTF-8; got text that is not JSON', 'NaN'],
  [
    'the body must be JSON in UTF-8; got bytes that are not UTF-8',
    Buffer.from('7b22ff223a317d', 'hex'),
  ],
  // Half a character at the end.
  ['the body must be JSON in UTF-8; got bytes that are not UTF-8', Buffer.from('7b7dc3', 'hex')],
  ['the body must be a JSON object; got a list', '[1]'],
  ['the body must be a JSON object; got a string', '"a"'],
  [
    'Content-Type must be application/json in UTF-8; got application/json; charset=latin1',
    '{}',
    { 'content-type': 'application/json; charset=latin1' },
  ],
  [
    'the body must be sent without Content-Encoding; got gzip',
    '{}',
    { 'content-encoding': 'gzip' },
  ],
  ['PAYLOAD_TOO_LARGE', padded(maxBodyBytes + 1)],
  ['PAYLOAD_TOO_LARGE', padded(maxBodyBytes + 1), asChunks],
  ['a is not a known field; accepted here: volume', listOf(10_000)],
  ['the body must hold at most 10000 JSON values; got more, so send it in parts', listOf(10_001)],
  ['a is not a known field; accepted here: volume', nested(64)],
  ['the body must hold lists and objects at most 64 levels deep; got more levels', nested(65)],
  ['a is not a known field; accepted here: volume', `{"a":"${String.raw`\n`.repeat(524_287)}x"}`],
  [
    'the body must hold at most 1048576 bytes of text; got more, so send it in parts',
    `{"a":"${String.raw`\n`.repeat(524_288)}"}`,
  ],
  [
    'the body must be JSON in UTF-8; got text that is not JSON after 100006 characters',
    `{"a":"${' '.repeat(100_000)}`,
  ],
  [
    'tokens is not a known field; accepted here: volume',
    '{"tokens":1,"a":{"token":1,"tp_live_x":1},"b":"my tp_live_x","c":"TP_LIVE_"}',
  ],
  ...[
    '{"X-Api-Key":2}',
    '{"accessToken":2}',
    '{"t\\u006fken":null}',
    '{"tp_live_x":2}',
    '[{"a":"tp_live_x"}]',
    '{"a":[{"b":"\\u0074p_live_x"}]}',
    `{"a":${'['.repeat(62)}"tp_live_x"${']'.repeat(62)}}`,
  ].map((text) => ['UNAUTHORIZED', text] as const),
])('answers %j to body %#', async ([outcome, body, headers]) => {
  expect(await outcomeOf(body, headers)).toEqual(outcome)
})

it.each([{}, { 'content-type': 'application/json' }])(
  'a body that may be left out may also be empty and in chunks, with the headers %j',
  async (headers) => {
    const { status } = await send(api, `/api/v1/accounts/${accountId}/halt`, {
      method: 'POST',
      headers: { 'x-api-key': goodKey, ...asChunks, ...headers },
    })
    expect(status).toBe(200)
  },
)

const head = (headers: string) =>
  `POST ${target} HTTP/1.1\r\n${host}X-API-Key: ${goodKey}\r\nContent-Type: application/json\r\nConnection: close\r\n${headers}\r\n`
const chunkedHead = head('Transfer-Encoding: chunked\r\n')

describe('a body in chunks', () => {
  it.for<[string, string | undefined, ...(string | Uint8Array)[]]>([
    ['a thousand of a byte', undefined, chunksOf(Buffer.from(padded(1_000)), 1)],
    [
      'more of a byte',
      'the body came in chunks of a few bytes',
      chunksOf(Buffer.from(padded(2_000)), 1),
    ],
    [
      'too many values and no end',
      'the body must hold at most 10000',
      '1ffff\r\n[',
      '0,'.repeat(10_000),
    ],
    ['too great a depth and no end', 'at most 64 levels deep', '1ffff\r\n', '['.repeat(65)],
  ])('may be refused before it ends: %s', async ([, message, ...pieces]) => {
    const socket = converse(api.port, chunkedHead, ...pieces)
    const body = JSON.parse((await socket)[0]?.body ?? '')
    expect(body.error?.message).toEqual(
      message === undefined ? undefined : expect.stringContaining(message),
    )
  })
})

const keptOpen = (length: number) =>
  head(`Content-Length: ${length}\r\n`).replace('Connection: close\r\n', '')

it('a sender that writes all of a refused body before it reads sees the answer and goes on', async () => {
  const large = Buffer.alloc(4 * maxBodyBytes, 0x20)
  const many = `[${'0,'.repeat(1_000_000)}`
  const replies = await converse(
    api.port,
    keptOpen(large.length),
    large,
    keptOpen(many.length),
    many,
    head('Content-Length: 2\r\n'),
    '{}',
  )
  expect(statusesOf(replies)).toEqual([413, 400, 200])
})

const tooMany = `[${'0,'.repeat(5_000_000)}`
it.for([
  ['that the sender closes', head(`Content-Length: ${tooMany.length}\r\n`), false],
  [
    'that the sender closes after 100 Continue',
    head(`Expect: 100-continue\r\nContent-Length: ${tooMany.length}\r\n`),
    false,
  ],
  ['of a service that is about to stop', keptOpen(tooMany.length), true],
] as const)('a connection %s ends after all of a refused body', async ([, start, isStopping]) => {
  await using open = await runApi({}, { ...fakeDependencies(), isDraining: () => isStopping })
  expect((await converse(open.port, start, tooMany)).at(-1)?.status).toBe(400)
})

// At full speed it would take some 10 ms.
it.for([
  ['without a credential', 401, `POST ${target}`],
  ['for a path that is unknown', 404, 'POST /api/v1/nothing'],
  ['for a route without a body or a credential', 200, 'GET /api/v1/symbols'],
  ['for a page', 200, 'GET /page'],
])('a body that nobody reads is discarded no faster than others: %s', async ([, status, line]) => {
  await using open = await runApi(
    {},
    {
      ...fakeDependencies(),
      pages: {
        '/page': (ctx) => {
          ctx.body = 'x'
        },
      },
    },
  )
  const startedAt = performance.now()
  const replies = await converse(
    open.port,
    `${line} HTTP/1.1\r\n${host}Content-Length: ${maxBodyBytes}\r\n\r\n`,
    Buffer.alloc(maxBodyBytes),
    lastGet('/page'),
  )
  expect(statusesOf(replies)).toEqual([status, 200])
  expect(performance.now() - startedAt).toBeGreaterThan(75)
})

it('bodies without a credential do not slow those of others', async () => {
  await using open = await runApi()
  const post = async () => {
    const startedAt = performance.now()
    const body = padded(maxBodyBytes)
    const { status } = await send(open, target, { ...jsonRequest('POST', {}), body })
    expect(status).toBe(200)
    return performance.now() - startedAt
  }
  const aloneMs = await post()
  const body = Buffer.alloc(maxBodyBytes)
  const uploads = times(50, () => {
    const socket = connect(open.port, '127.0.0.1').on('error', () => undefined)
    socket.write(`POST ${target} HTTP/1.1\r\n${host}Content-Length: ${body.length}\r\n\r\n`)
    socket.write(body)
    return socket.resume()
  })
  await setTimeout(200)
  // Behind all of theirs it would take fifty times as long.
  expect(await post()).toBeLessThan(25 * aloneMs)
  for (const socket of uploads) socket.destroy()
})

it('a credential may have two bodies that are large or slow at a time, any number of others, and other credentials theirs', async () => {
  const large = padded(70_000)
  const hangUp = new AbortController()
  const unfinished = () =>
    fetch(`${api.origin}${target}`, {
      method: 'POST',
      headers: { 'x-api-key': 'a', 'content-type': 'application/json' },
      body: new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('{')) }),
      duplex: 'half',
      signal: hangUp.signal,
    }).catch(() => undefined)
  expect(
    await Promise.all(times(20, () => outcomeOf('{}', { 'x-api-key': 'a' }).then(Boolean))),
  ).not.toContain(false)
  const opened = [unfinished(), unfinished()]
  await setTimeout(500)
  expect([
    await outcomeOf(large, { 'x-api-key': 'a' }),
    await outcomeOf('{}', { 'x-api-key': 'a' }),
    await outcomeOf(large),
  ]).toEqual(['RATE_LIMIT_EXCEEDED', {}, {}])
  hangUp.abort()
  await Promise.all(opened)
  await expect.poll(() => outcomeOf(large, { 'x-api-key': 'a' })).toEqual({})
})

it('a body that arrives while the event loop is held is not slow', async () => {
  const [start, rest] = [head('Content-Length: 2\r\n'), '{}']
  const sockets = await Promise.all(
    times(3, async () => {
      const socket = connect(api.port, '127.0.0.1')
      socket.write(`${start}${rest.slice(0, 1)}`)
      await setTimeout(50)
      return socket
    }),
  )
  const replies = sockets.map(async (socket) => String((await once(socket, 'data'))[0]))
  // After an immediate, timers run before sockets are read.
  await setImmediate()
  for (const socket of sockets) socket.write(rest.slice(1))
  const until = performance.now() + 400
  while (performance.now() < until);
  expect(statusesOf((await Promise.all(replies)).flatMap(repliesIn))).toEqual([200, 200, 200])
  for (const socket of sockets) socket.destroy()
})

// A share that was not given back would refuse the large body after two of these.
it.for([
  ['whole', head('Content-Length: 70000\r\n'), padded(70_000)],
  ['no JSON', head('Content-Length: 70000\r\n'), '['.padEnd(70_000)],
  ['with a credential', head('Content-Length: 70000\r\n'), '{"token":1}'.padEnd(70_000)],
  ['too deep', head('Content-Length: 70000\r\n'), nested(65).padEnd(70_000)],
  ['too large', head('Content-Length: 10485761\r\n')],
  ['broken', chunkedHead, '11170\r\n', padded(70_000), 'zz\r\n'],
])('bodies that were %s count no more', async ([, ...pieces]) => {
  await using limited = await runApi(
    { idempotency: fakeIdempotency(), closePosition: fakeUseCases().closePosition },
    undefined,
    {
      bounds: { requestMs: 300, headMs: 200, checkMs: 50 },
    },
  )
  for (let sent = 0; sent < 3; sent += 1) await converse(limited.port, ...pieces)
  const { status } = await send(limited, target, {
    ...jsonRequest('POST', {}),
    body: padded(70_000),
  })
  expect(status).toBe(200)
})

const heldBytes = async () => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  // What is released is counted a moment later.
  await setTimeout(100)
  return process.memoryUsage().arrayBuffers
}

it('what was received of a refused body is released while its rest is awaited', async () => {
  const socket = connect(api.port, '127.0.0.1')
  const bytesBefore = await heldBytes()
  socket.write(keptOpen(maxBodyBytes))
  socket.write(' '.repeat(9_000_000) + listOf(10_001))
  await once(socket, 'data')
  expect((await heldBytes()) - bytesBefore).toBeLessThan(1_000_000)
  socket.destroy()
})

it('large bodies beyond the memory set aside for them are refused until others are released, and small ones are not', async () => {
  const hangUp = new AbortController()
  const fifth = Buffer.alloc(10_060_000, ' ')
  // Each of a credential of its own; its end does not arrive, and one that is refused is sent again.
  const hold = async (key: string) => {
    while (!hangUp.signal.aborted)
      await fetch(`${api.origin}${target}`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: new ReadableStream({ start: (stream) => stream.enqueue(fifth) }),
        duplex: 'half',
        signal: hangUp.signal,
      }).catch(() => undefined)
  }
  const held = ['b1', 'b2', 'b3', 'b4', 'b5'].map(hold)
  await expect.poll(() => outcomeOf(padded(70_000))).toBe('SERVICE_UNAVAILABLE')
  expect(await outcomeOf(padded(60_000))).toEqual({})
  hangUp.abort()
  await Promise.all(held)
  await expect.poll(() => outcomeOf(padded(8_000_000))).toEqual({})
})
