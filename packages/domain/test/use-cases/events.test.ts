// The log of events by pages and as streams, over the fake log and ticks that the tests give.
import { newAccount, times } from '@tradeport/testkit'
import { createFakeEventLog, eventIdOf, type FakeEventLog } from './fake-event-log.ts'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  scopes as allScopes,
  type ProgramId,
  type ScopedCaller,
  type Scope,
} from '../../src/access/index.ts'
import { startOfLog, type EventId, type LoggedEvent } from '../../src/events/index.ts'
import type { AccountId, Owner } from '../../src/primitives/index.ts'
import { createEvents, type EventStream } from '../../src/use-cases/index.ts'
import { createStreamSlots, streamLimits } from '../../src/use-cases/steps/stream-slots.ts'
import { webhookEventTypes } from '../../src/webhooks/webhook.ts'
import type { AccountStore } from '../../src/ports/index.ts'
import { createTicks, idle, owner, partOf, rightOf, stranger } from './desk.ts'

const accountOf = (digit: string) => `${digit}0000000-0000-4000-8000-000000000000` as AccountId
const [account, otherAccount] = [accountOf('a'), accountOf('b')]
const accounts = [account, otherAccount]
const closed = { type: 'trade.closed', accountId: account } as const
const filled = { type: 'order.filled', accountId: otherAccount } as const

const callerWith = (...scopes: readonly Scope[]): ScopedCaller => ({
  owner,
  program: 'api_key k-1' as ProgramId,
  scopes: new Set(scopes),
})
const caller = callerWith(...allScopes)

const open = () => {
  const log = createFakeEventLog()
  /** The ends of the log are answered after it, as they were before. */
  let boundsGate: Promise<void> | undefined
  const { pause, tick } = createTicks()
  const watched: (readonly Owner[])[] = []
  const use = createEvents({
    streamSlots: createStreamSlots(),
    eventLog: {
      ...log,
      // Read anew each time, since tests switch it.
      page: (...query) => log.page(...query),
      bounds: (whose) => async () => {
        const found = await log.bounds(whose)()
        await boundsGate
        return found
      },
    },
    accounts: partOf<AccountStore>({
      find: (_, id) => TE.right(accounts.includes(id) ? O.some(newAccount(owner, { id })) : O.none),
    }),
    watch: {
      keepWatching: (owners) => TE.fromIO(() => void watched.push(owners)),
    },
    pause,
  })
  const openStream = (query: Parameters<typeof use.streamEvents>[1]['query'] = {}) =>
    use.streamEvents(caller, { query, headers: {} })
  return {
    log,
    use,
    /** The owners of each call that kept up the watch. */
    watched,
    holdBounds: (gate: Promise<void>) => void (boundsGate = gate),
    /** A second passes for all streams. */
    tick,
    list: (query: Partial<Parameters<typeof use.listEvents>[1]['query']> = {}) =>
      use.listEvents(caller, { query: { order: 'asc', limit: 100, ...query } })(),
    openStream,
    follow: async (...of: Parameters<typeof openStream>) =>
      readingOf(await rightOf(openStream(...of))),
  }
}

interface Reading {
  readonly stream: EventStream
  readonly got: LoggedEvent[]
  readTo: EventId
  isOver: boolean
}

const readingOf = (stream: EventStream): Reading => {
  const reading: Reading = { stream, got: [], readTo: stream.startsAfter, isOver: false }
  const read = async () => {
    for await (const { events, readTo } of stream.batches) {
      reading.got.push(...events)
      reading.readTo = readTo
    }
    reading.isOver = true
  }
  void read()
  return reading
}

const pageOf = (limit: number, hasNext: boolean, event: LoggedEvent | undefined) =>
  E.right({ data: [event], pagination: { limit, hasNext, cursor: event?.id } })

describe('GET /events', () => {
  it('gives the page that is asked for, of the wanted types and account', async () => {
    const { log, list } = open()
    const [first, second, third] = log.record(owner, [closed, filled, closed])
    log.record(stranger, [closed])
    const before = { before: third?.id, order: 'desc', limit: 1 } as const
    expect(await list(before)).toEqual(pageOf(1, true, second))
    const after = { after: first?.id, accountId: account, types: [closed.type] }
    expect(await list(after)).toEqual(pageOf(100, false, third))
  })

  it('refuses to continue after an event where one may be missing, and says after which none is', async () => {
    const { log, openStream, list } = open()
    const [first, second, third] = log.record(owner, [closed, filled, closed]).map(({ id }) => id)
    const [foreign] = log.record(stranger, [closed]).map(({ id }) => id)
    const [start, never] = [startOfLog, eventIdOf(99)]
    for (const { clearedTo, oldest, resumable, gone } of [
      { clearedTo: start, oldest: first, resumable: [start, first, third], gone: [foreign, never] },
      { clearedTo: first, oldest: second, resumable: [first, third], gone: [start, foreign] },
      { clearedTo: third, oldest: null, resumable: [third], gone: [start, first, second, never] },
    ]) {
      log.clear(owner, clearedTo ?? start)
      const refused = E.left({ _tag: 'EventGone', resumeAfter: clearedTo, oldest })
      for (const after of resumable) expect(await list({ after })).toMatchObject({ _tag: 'Right' })
      for (const after of gone) {
        expect(await list({ after })).toStrictEqual(refused)
        expect(await openStream({ after })()).toStrictEqual(refused)
      }
    }
  })

  it('lets who polls for rare types go on after what was cleared meanwhile', async () => {
    const { log, list } = open()
    const types = [closed.type]
    let [after] = log.record(owner, [closed]).map(({ id }) => id)
    for (const _round of times(3, (round) => round)) {
      const [last] = log.record(owner, [filled, filled]).toReversed()
      const { pagination } = await rightOf(() => list({ after, types }))
      expect(pagination.cursor).toBe(last?.id)
      after = last?.id
      log.clear(owner, after ?? startOfLog)
    }
    const [found] = log.record(owner, [closed, filled])
    expect(await list({ after, types })).toEqual(pageOf(100, false, found))
    const { pagination } = await rightOf(() => list({ after, types, before: found?.id }))
    expect(pagination.cursor).toBeUndefined()
  })

  it('refuses an account that the caller does not have', async () => {
    const { openStream, list } = open()
    const accountId = accountOf('c')
    const refused = E.left({ _tag: 'AccountNotFound' })
    expect(await list({ accountId })).toStrictEqual(refused)
    expect(await openStream({ accountId })()).toStrictEqual(refused)
  })

  it.each<[Scope, string[]]>([
    ['trading:read', ['order', 'position', 'trade']],
    ['positions:read', ['position']],
    ['history:read', ['trade']],
    ['accounts:read', ['account', 'risk']],
    ['webhooks:read', []],
  ])('shows with %s only the types %j, and refuses others by name', async (scope, prefixes) => {
    const { log, use } = open()
    log.record(
      owner,
      webhookEventTypes.map((type) => ({ type, accountId: account })),
    )
    const query = { order: 'asc', limit: 100 } as const
    const readable = webhookEventTypes.filter((type) => prefixes.includes(type.split('.')[0] ?? ''))
    const { data: events } = await rightOf(use.listEvents(callerWith(scope), { query }))
    expect(events.map(({ type }) => type)).toStrictEqual(readable)
    for (const type of webhookEventTypes) {
      const one = await use.listEvents(callerWith(scope), { query: { ...query, types: [type] } })()
      expect(E.isRight(one)).toBe(readable.includes(type))
    }
  })
})

describe('GET /events/stream', () => {
  it('gives every wanted event after its start exactly once and in order, however the log grows, calls are lost and readers come and go', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('record'),
        count: fc.integer({ min: 1, max: 5 }),
        isSilent: fc.boolean(),
      }),
      fc.record({ do: fc.constant('open'), filter: fc.boolean(), resume: fc.boolean() }),
      fc.record({ do: fc.constantFrom('close', 'tick') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { log, follow, tick } = open()
        const all = []
        const readings: (Reading & {
          after: EventId | undefined
          isFiltered: boolean
          until?: number
        })[] = []
        for (const one of steps) {
          if (one.do === 'record')
            all.push(
              ...log.record(
                owner,
                times(one.count, (index) => (index % 2 ? closed : filled)),
                one.isSilent,
              ),
            )
          else if (one.do === 'open' && readings.length < streamLimits.perProgram) {
            const after = one.resume ? all.at(Math.floor(all.length / 2))?.id : undefined
            const began = after ?? all.at(-1)?.id
            const reading = await follow({ after, ...(one.filter && { accountId: account }) })
            readings.push(Object.assign(reading, { after: began, isFiltered: one.filter }))
          } else if (one.do === 'close') {
            const reading = readings.find(({ until }) => until === undefined)
            reading?.stream.close()
            await idle()
            if (reading) reading.until = reading.got.length
          } else if (one.do === 'tick') await tick()
        }
        await tick(6)
        for (const { got, after, isFiltered, until } of readings) {
          const wanted = all.filter(
            (event) =>
              (after === undefined || event.id > after) &&
              (!isFiltered || event.accountId === account),
          )
          expect(got).toStrictEqual(until === undefined ? wanted : wanted.slice(0, until))
        }
      }),
      { numRuns: 200 },
    )
  })

  it('reads the log once for all who follow it', async () => {
    const { log, follow, tick } = open()
    const readings = [await follow(), await follow(), await follow()]
    await idle()
    const before = log.reads
    log.record(owner, [closed])
    await tick()
    expect(log.reads - before).toBe(1)
    expect(readings.map(({ got }) => got.length)).toStrictEqual([1, 1, 1])
  })

  it('ends when it is closed, and when the log cannot be read', async () => {
    const { log, follow } = open()
    const first = await follow()
    expect([first.isOver, first.stream.isOver()]).toEqual([false, false])
    log.isReadable = false
    log.record(owner, [closed])
    await idle()
    expect([first.isOver, first.stream.isOver()]).toEqual([true, true])
    log.isReadable = true
    const second = await follow()
    second.stream.close()
    await idle()
    expect(second).toMatchObject({ isOver: true, got: [] })
  })

  it('ends where the log has lost events that it gave, and goes on where it has not', async () => {
    const { log, follow, tick } = open()
    log.record(owner, [closed, closed])
    const reading = await follow()
    log.lose(owner, 0)
    log.record(owner, [closed])
    await tick()
    expect(reading).toMatchObject({ isOver: false, got: { length: 1 } })
    log.lose(owner, 2)
    await idle()
    expect(reading.isOver).toBe(true)
  })

  it('ends before it gives later events where one that it gave was lost and nobody said so', async () => {
    const { log, follow, tick } = open()
    const reading = await follow()
    log.record(owner, [closed])
    await tick()
    log.lose(owner, 1, true)
    log.record(owner, [filled])
    await idle()
    expect(reading).toMatchObject({ isOver: true, got: { length: 1 } })
  })

  it.each<[string, (log: FakeEventLog, stream: EventStream) => void]>([
    ['reads nothing more of the past once it is closed', (_, stream) => stream.close()],
    [
      'ends where events are cleared away before it has read them',
      (log) => log.clear(owner, eventIdOf(1_500)),
    ],
  ])('%s', async (_, happens) => {
    const { log, openStream } = open()
    const [first] = log.record(
      owner,
      times(2_500, () => closed),
    )
    const stream = await rightOf(openStream({ after: first?.id }))
    const batches = stream.batches[Symbol.asyncIterator]()
    expect((await batches.next()).value).toMatchObject({ events: { length: 1_000 } })
    happens(log, stream)
    expect(await batches.next()).toMatchObject({ done: true })
  })

  it('says how far it has read, also past what is not wanted or not there any more', async () => {
    const { log, follow, tick } = open()
    const [first, second] = log.record(owner, [closed, filled])
    const [rare, behind] = [
      await follow({ types: ['risk.threshold_breached'] }),
      await follow({ types: ['risk.threshold_breached'], after: first?.id }),
    ]
    await tick()
    expect([rare.readTo, behind.readTo]).toStrictEqual([second?.id, second?.id])
    const [third] = log.record(owner, [closed])
    await tick(2)
    expect([rare.readTo, behind.readTo]).toStrictEqual([third?.id, third?.id])
    log.clear(owner, eventIdOf(3))
    expect((await follow()).stream.startsAfter).toBe(third?.id)
  })

  it('gives a new stream what was recorded while it was being opened beside another', async () => {
    const { log, follow, holdBounds, tick } = open()
    const [first] = log.record(owner, [closed])
    const other = await follow()
    await idle()
    const gate = Promise.withResolvers<void>()
    holdBounds(gate.promise)
    const opening = follow({ after: first?.id })
    await idle()
    const [second] = log.record(owner, [filled])
    await idle()
    expect(other.got).toStrictEqual([second])
    gate.resolve()
    const late = await opening
    const [third] = log.record(owner, [closed])
    await tick()
    expect(late.got).toStrictEqual([second, third])
  })

  it('goes on when a stream that failed before it began is closed', async () => {
    const { log, follow, tick } = open()
    const failed = await follow()
    log.isReadable = false
    log.record(owner, [closed])
    await idle()
    log.isReadable = true
    const next = await follow()
    failed.stream.close()
    const recorded = log.record(owner, [filled])
    await tick(6)
    expect([failed.isOver, next.got]).toStrictEqual([true, recorded])
  })

  it.each([
    ['a thousand events', times(1_000, () => closed)],
    ['a megabyte', [{ ...closed, data: { text: 'x'.repeat(2 ** 20) } }]],
  ])('cuts off a reader that falls %s behind', async (_, events) => {
    const { log, openStream, tick } = open()
    const stream = await rightOf(openStream())
    for (const event of events) log.record(owner, [event])
    await tick()
    expect(stream.isOver()).toBe(false)
    log.record(owner, [closed])
    await tick()
    expect(stream.isOver()).toBe(true)
  })

  it('allows a credential so many streams at a time, and frees the place of one that ended', async () => {
    const { openStream, follow } = open()
    const [first] = await Promise.all(times(streamLimits.perProgram, () => follow()))
    const refused = { _tag: 'StreamLimitReached', limit: 5, retryAfterSeconds: 5 }
    expect(await openStream()()).toStrictEqual(E.left(refused))
    first?.stream.close()
    first?.stream.close()
    await follow()
    expect(await openStream()()).toStrictEqual(E.left(refused))
  })

  it('keeps the watch of its owner while it is open, if it wants events of the broker', async () => {
    const { watched, follow, tick } = open()
    await follow({ types: ['order.filled', 'risk.threshold_breached'] })
    await tick(5)
    expect(watched).toStrictEqual([])
    const reading = await follow({ types: ['order.filled', 'position.closed'] })
    expect(watched.splice(0)).toStrictEqual([[owner]])
    await tick(10)
    expect(watched.splice(0)).toStrictEqual([[owner], [owner]])
    reading.stream.close()
    await tick(5)
    expect(watched).toStrictEqual([])
  })
})
