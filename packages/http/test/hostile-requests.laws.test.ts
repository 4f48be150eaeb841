// No request holds the event loop for more than 50 ms, whatever its head and its body.
import { times } from '@tradeport/testkit'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { scopes } from '@tradeport/domain/access'
import * as fc from 'fast-check'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { maxBodyBytes } from '../src/fields.ts'
import type { UseCases } from '../src/index.ts'
import { credential, runApi, type Running } from './fakes.ts'
import { host } from './raw.ts'
import { chunksOf } from './body/json-texts.ts'

const mostMs = 50

const evenly = (unit: string, count: number) =>
  unit.repeat(Math.floor((maxBodyBytes - 1_000) / count / Buffer.byteLength(unit)))

const unit = fc.constantFrom('x', '\\n', '\\u4e2d', '\\ud83d\\ude00', 'é', '中\\n', '😀', ' ')
const digits = fc.constantFrom('9', '0', '123456789')
// As few as one long one and as many as a body may hold.
const count = fc.constantFrom(1, 160, 9_000)
const inList = (values: readonly string[]) => `{"a":[${values.join(',')}]}`
// Made only when it is sent, so that a failure prints a few words and not 10 MiB.
type Made = readonly [description: string, make: () => string]
const made = <A>(arbitrary: fc.Arbitrary<A>, make: (value: A) => string): fc.Arbitrary<Made> =>
  arbitrary.map((value): Made => [`${JSON.stringify(value)} ${String(make)}`, () => make(value)])

const body = fc.oneof(
  made(fc.tuple(unit, count), ([text, length]) =>
    inList(times(length, (index) => `"${evenly(text, length)}${index}"`)),
  ),
  made(
    fc.tuple(unit, count),
    ([text, length]) =>
      `{${times(length, (index) => `"${evenly(text, length)}${index}":0`).join(',')}}`,
  ),
  made(fc.tuple(digits, count, fc.constantFrom('1', '0.', '1e', '1e-')), ([text, length, start]) =>
    inList(times(length, () => start + evenly(text, length))),
  ),
  made(
    fc.constantFrom(1, 65_536, 400_000),
    (step) => `{${times(9_000, (index) => `"${index * step}":0`).join(',')}}`,
  ),
  made(
    fc.constantFrom('__proto__', 'constructor', 'a'),
    (name) => `{${times(9_000, () => `"${name}":{}`).join(',')}}`,
  ),
  // What is refused: too deep, too many values, or no JSON.
  made(
    fc.tuple(
      fc.constantFrom('', '{', '{"a":[', '['),
      fc.constantFrom(
        '[',
        '{"a":',
        '[],',
        '{},',
        '0,',
        '"a":0,',
        ':',
        ']',
        '"',
        'ÿ',
        '\u0000',
        '"\\',
      ),
    ),
    ([start, text]) => start + evenly(text, 1),
  ),
)
const chunkBytes = fc.constantFrom(undefined, 1, 2, 16, 255, 256, 300, 4_096)
const line = fc.constantFrom(
  'POST /api/v1/positions/x/close',
  'POST /api/v1/webhooks',
  'GET /api/v1/accounts',
)

// Each key is a credential of its own, which may send two large bodies at a time.
const identifyCaller: UseCases['identifyCaller'] = ({ apiKey = '' }) =>
  TE.right(credential(scopes, { id: apiKey }))

let api: Running
let sender: ChildProcess
let folder: string
beforeAll(async () => {
  api = await runApi({ identifyCaller })
  folder = await mkdtemp(join(tmpdir(), 'bodies-'))
  // A process of its own, so that only what the server does is measured.
  // Its bodies end at the same moment.
  const code = `
    const { connect } = require('node:net')
    process.on('message', ({ port, head, file, count }) => {
      const body = require('node:fs').readFileSync(file)
      let [open, unsent] = [count, count]
      const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
      for (const [key, socket] of sockets.entries()) {
        socket.on('error', () => undefined)
        socket.on('data', () => socket.end())
        socket.on('close', () => (open -= 1) === 0 && process.send('done'))
        socket.write(head.replace('KEY', key + 1))
        socket.write(body.subarray(0, -1), () => {
          if ((unsent -= 1) === 0) for (const each of sockets) each.write(body.subarray(-1))
        })
      }
    })`
  await writeFile(join(folder, 'sender.cjs'), code)
  sender = fork(join(folder, 'sender.cjs'), { execArgv: [] })
})
afterAll(async () => {
  sender.kill()
  await rm(folder, { recursive: true })
  await api[Symbol.asyncDispose]()
})

const send = async (head: string, file: string, count: number) => {
  const done = once(sender, 'message')
  sender.send({ port: api.port, head, file, count })
  await done
}

const referenceText = JSON.stringify(times(20_000, (index) => ({ a: index, b: `x${index}` })))
const referenceMs = 60

const processorMs = (since: NodeJS.CpuUsage) => {
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1e3
}

/**
 * How many times slower this machine is at the moment than the one that the bound is for, on which
 * the same work takes `referenceMs`. A machine that is shared may be three times slower for a while.
 */
const slowness = () => {
  const before = process.threadCpuUsage()
  times(20, () => JSON.parse(referenceText))
  return Math.max(1, processorMs(before) / referenceMs)
}

/**
 * How long the event loop was held at most, on the machine that the bound is for. The delay of a
 * timer includes the time in which other processes had the processor, so that the processor time of
 * the longest turn bounds it where the machine is busy.
 */
const longestHoldMs = async (work: () => Promise<unknown>) => {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const state = { isDone: false }
  const done = work().finally(() => {
    state.isDone = true
  })
  let longestTurnMs = 0
  while (!state.isDone) {
    const before = process.threadCpuUsage()
    await setImmediate()
    longestTurnMs = Math.max(longestTurnMs, processorMs(before))
  }
  await done
  delay.disable()
  const heldMs = Math.min(delay.max / 1e6, longestTurnMs)
  return heldMs <= mostMs ? heldMs : heldMs / slowness()
}

/** Expects that so many requests hold the event loop briefly. */
const expectBrief = async (head: string, bytes: Uint8Array, count = 1) => {
  const file = join(folder, 'body')
  await writeFile(file, bytes)
  let heldMs = Infinity
  // What a request does it does every time; a garbage collection of this test's own strings does
  // not repeat.
  for (let attempt = 0; attempt < 4 && heldMs > mostMs; attempt += 1)
    heldMs = await longestHoldMs(() => send(head, file, count))
  expect(heldMs).toBeLessThanOrEqual(mostMs)
}

/** The same of a request with these bytes as its body, in chunks of a size or whole. */
const expectBriefBody = (request: string, bytes: Uint8Array, size?: number, count?: number) => {
  const framing =
    size === undefined ? `Content-Length: ${bytes.length}` : 'Transfer-Encoding: chunked'
  const head = `${request} HTTP/1.1\r\n${host}X-API-Key: KEY\r\nContent-Type: application/json\r\nConnection: close\r\n${framing}\r\n\r\n`
  return expectBrief(head, size === undefined ? bytes : chunksOf(bytes, size), count)
}

const headBytes = 16_000
/** As many as fit into a head; each `#` is the number of the repetition. */
const filled = (text: string, bytes: number) => {
  const all = times(Math.ceil(bytes / text.length), (index) => text.replaceAll('#', String(index)))
  return all.join('').slice(0, bytes)
}
const name = fc.constantFrom(
  'a',
  'a#',
  'limit',
  'accountId',
  'symbol',
  'status',
  '__proto__',
  '%61',
)
const value = fc.constantFrom('', '=', '=1', '=%', '=%e4', '=+', '=tp_live_', '=#,')
const header = fc.constantFrom(
  'X-Forwarded-For: 1.2.3.4,',
  'X-API-Key: tp_live_',
  'Authorization: Bearer a.',
  'If-None-Match: W/"a",',
  'Idempotency-Key: a',
  'Origin: http://a.',
  'Accept: */*;q=0.1,',
  'Content-Type: application/json;a=b;',
  'Cookie: a=b;',
  'Expect: 100-continue,',
)
const path = fc.constantFrom('positions', 'orders', 'symbols', 'trades/stats', 'none')
const head = fc.oneof(
  fc.tuple(path, name, value).map(([at, key, text]) => ({
    target: `/${at}?${filled(`${key}${text}&`, headBytes)}`,
    lines: '',
  })),
  fc
    .constantFrom('/', '/a', '/%', '/%61', '/..', '/positions')
    .map((text) => ({ target: filled(text, headBytes), lines: '' })),
  fc.tuple(path, header, fc.boolean()).map(([at, line, isRepeated]) => {
    const [field = '', text = ''] = line.split(': ')
    const lines = isRepeated
      ? filled(`${line}\r\n`, headBytes / 8)
      : `${field}: ${filled(text, headBytes)}`
    return { target: `/${at}`, lines: `${lines}\r\n` }
  }),
)

it('nor does the first read of the document', async () => {
  const target = `http://127.0.0.1:${api.port}/api/v1/openapi.json`
  // The first fetch of a process also loads the client, on the same event loop.
  await fetch(`http://127.0.0.1:${api.port}/healthz`)
  expect(await longestHoldMs(() => fetch(target))).toBeLessThanOrEqual(mostMs)
})

it(`no head holds the event loop for more than ${mostMs} ms`, async () => {
  await fc.assert(
    fc.asyncProperty(head, fc.constantFrom('GET', 'POST'), async ({ target, lines }, method) => {
      const text = `${method} /api/v1${target} HTTP/1.1\r\n${host}${lines}Connection: close\r\nContent-Length: 0\r\n\r\n`
      await expectBrief(text, Buffer.alloc(0))
    }),
    { numRuns: 25, endOnFailure: true },
  )
})

it(`no body holds the event loop for more than ${mostMs} ms`, async () => {
  await fc.assert(
    fc.asyncProperty(
      body,
      fc.boolean(),
      chunkBytes,
      line,
      async ([, make], isCut, size, request) => {
        // Small chunks are refused after a thousand.
        const most = size === undefined ? maxBodyBytes : 100_000 * size
        const bytes = Buffer.from(make()).subarray(0, isCut ? -1_000 : most)
        await expectBriefBody(request, bytes.subarray(0, most), size)
      },
    ),
    { numRuns: 25, endOnFailure: true },
  )
})

// As many as fit into the memory for bodies.
it.each([
  ['POST /api/v1/webhooks', 'url', 'x'],
  ['POST /api/v1/webhooks', 'url', 'https://a.example/☃ '],
  ['POST /api/v1/orders', 'comment', '☃ '],
  ['POST /api/v1/orders', '☃ ', 'x'],
])('nor does %s with a long text as its %s: %s', async (request, field, text) => {
  const [name, value] = field.length > 2 ? [field, evenly(text, 1)] : [evenly(field, 1), text]
  await expectBriefBody(request, Buffer.from(JSON.stringify({ [name]: value })))
})

it('nor do several bodies that end at the same moment', async () => {
  const bytes = Buffer.from(inList([`"${evenly('中', 1)}"`]))
  await expectBriefBody('POST /api/v1/webhooks', bytes, undefined, 6)
})
