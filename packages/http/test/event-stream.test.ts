// Streams of events as they are written: ids to resume after, and readers that read nothing.
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { scopes } from '@tradeport/domain/access'
import { refuse } from '@tradeport/domain/errors'
import type { EventStream } from '@tradeport/domain/use-cases'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it, onTestFinished, vi } from 'vitest'
import { credential, eventIdOf, goodKey, runApi, send } from './fakes.ts'

const target = '/api/v1/events/stream'
const good = TE.right(credential(scopes))

const streamOf = (
  batches: EventStream['batches'],
  close: () => void = () => undefined,
  isOver = () => false,
): EventStream => ({
  batches,
  startsAfter: eventIdOf(1),
  isOver,
  close,
})

/** Batches without events that come at these times. */
async function* quiet(clock: { readonly mockReturnValue: (ms: number) => unknown }) {
  for (const [number, ms] of [
    [2, 14_999],
    [3, 15_000],
    [4, 29_000],
    [5, 30_000],
  ] as const) {
    clock.mockReturnValue(ms)
    yield { events: [], readTo: eventIdOf(number) }
  }
}

/** As where every read of the broker hangs; ends once it is closed. */
const hanging = () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const next = () => closed.then(() => ({ done: true, value: undefined }) as const)
  return streamOf({ [Symbol.asyncIterator]: () => ({ next }) }, resolve)
}

async function* endless() {
  const data = { text: 'x'.repeat(65_536) }
  for (;;) {
    await setTimeout(0)
    yield {
      events: [{ id: eventIdOf(2), type: 'order.filled', recordedAt: 0, data } as never],
      readTo: eventIdOf(2),
    }
  }
}

it('says at every heartbeat how far the log was read', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => void vi.restoreAllMocks())
  await using api = await runApi({ streamEvents: () => TE.right(streamOf(quiet(clock))) })
  const [first, third, fifth] = [1, 3, 5].map(eventIdOf)
  expect((await send(api, target)).text).toBe(
    `retry: 2000\nid: ${first}\n\n:\nid: ${third}\n\n:\nid: ${fifth}\n\n`,
  )
})

it('begins after Last-Event-ID, or after the query where that is empty', async () => {
  const starts: unknown[] = []
  const close = vi.fn()
  await using api = await runApi({
    streamEvents: (_, { query, headers }) => {
      starts.push([query.after, headers['Last-Event-ID']])
      return TE.right(streamOf(endless(), close))
    },
  })
  const [after, last] = [eventIdOf(9), eventIdOf(8)]
  for (const [query, lastEventId] of [
    ['', ''],
    [`?after=${after}`, ''],
    [`?after=${after}`, last],
  ]) {
    const stopping = new AbortController()
    const headers = { 'X-API-Key': goodKey, 'Last-Event-ID': lastEventId ?? '' }
    await fetch(`${api.origin}${target}${query}`, { headers, signal: stopping.signal })
    stopping.abort()
  }
  expect(starts).toEqual([
    [undefined, undefined],
    [after, undefined],
    [after, last],
  ])
  await expect.poll(() => close.mock.calls.length).toBeGreaterThanOrEqual(3)
})

it('is closed where its reader left before it began', async () => {
  const leaving = new AbortController()
  const close = vi.fn()
  const streamEvents = () =>
    TE.fromTask(async () => {
      leaving.abort()
      await setTimeout(200)
      return streamOf(endless(), close)
    })
  await using api = await runApi({ streamEvents })
  const request = { headers: { 'X-API-Key': goodKey }, signal: leaving.signal }
  await expect(fetch(`${api.origin}${target}`, request)).rejects.toThrow('aborted')
  await expect.poll(() => close).toHaveBeenCalledOnce()
})

it('ends soon after its credential is revoked, also where nothing comes', async () => {
  let isRevoked = false
  let checks = 0
  await using api = await runApi({
    identifyCaller: ({ isRepeated }) => {
      checks += 1
      return isRepeated && isRevoked ? TE.left(refuse('Unauthorized')) : good
    },
    streamEvents: () => TE.right(hanging()),
  })
  const reply = send(api, target).then(({ text }) => text)
  await setTimeout(600)
  isRevoked = true
  expect(await Promise.race([reply, setTimeout(5_000, 'open')])).toBe(
    `retry: 2000\nid: ${eventIdOf(1)}\n\n`,
  )
  const before = checks
  await setTimeout(600)
  expect(checks).toBe(before)
})

it.each([
  ['its credential is revoked', TE.left(refuse('Unauthorized'))],
  ['its credential cannot be checked', () => Promise.reject(new Error('a broken cache'))],
  ['its credential loses a scope', TE.right(credential([]))],
  ['it has fallen too far behind', good],
])('disconnects a reader that reads nothing soon after %s', async (_, then) => {
  let isRevoked = false
  const closed = Promise.withResolvers<void>()
  const isOver = () => isRevoked && then === good
  await using api = await runApi({
    identifyCaller: () => (isRevoked ? then : good),
    streamEvents: () => TE.right(streamOf(endless(), closed.resolve, isOver)),
  })
  const socket = connect(api.port, '127.0.0.1', () =>
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${goodKey}\r\n\r\n`),
  )
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  // Until the buffers are full, and longer than the check takes.
  await setTimeout(1_500)
  const within = (ms: number) =>
    Promise.race([closed.promise.then(() => 'closed'), setTimeout(ms, 'open')])
  const first = await within(0)
  isRevoked = true
  const last = await within(5_000)
  expect([first, last]).toEqual(['open', 'closed'])
})
