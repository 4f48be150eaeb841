// Laws of telling closes: whatever becomes of the answers, the history and the database, and wherever a process dies, each execution of a close is told
// exactly once, nothing else is told, and a position that was closed wholly is told as the trade that it became, once.
import * as fc from 'fast-check'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { brokerUnavailable, serviceUnavailable } from '../../src/errors.ts'
import type { ServiceEvent } from '../../src/events/service-event.ts'
import { withoutKey } from '../../src/ports/idempotency.ts'
import type { CloseRecords } from '../../src/ports/close-records.ts'
import type { Histories } from '../../src/ports/histories.ts'
import { formatPositionId } from '../../src/primitives/ids.ts'
import type { Owner } from '../../src/primitives/ids.ts'
import { sumExactly } from '../../src/primitives/exact-sum.ts'
import { secondMs } from '../../src/primitives/instant.ts'
import { createFakeCloseRecords } from '../../src/testing/fake-close-records.ts'
import type { FakeChangeOutcome } from '../../src/testing/fake-position-desk.ts'
import { closePosition } from '../../src/use-cases/close-position.ts'
import { settleClose } from '../../src/use-cases/settle-close.ts'
import { openPosition } from '../../src/testing/open-position.ts'
import { createChangeDesk } from './change-desk.ts'
import { owner } from './desk.ts'

interface Close {
  /** In hundredths of a lot; 0 for all that is open. */
  readonly cents: number
  readonly outcome: Extract<FakeChangeOutcome, string>
  /** So many reads do not show the deal. */
  readonly lag: number
  /** Whether the process dies, or loses the database, before it writes what came of the close. One that was only accepted is written. */
  readonly isLost: boolean
  /** Until the next. */
  readonly pauseMs: number
}

const closes = fc.array(
  fc.record<Close>({
    cents: fc.constantFrom(0, 10, 10, 20),
    outcome: fc.constantFrom('do', 'do', 'do_half', 'do_and_lose_the_answer', 'lose_the_request', 'accept', 'refuse'),
    lag: fc.constantFrom(0, 0, 2, 12),
    isLost: fc.boolean(),
    pauseMs: fc.constantFrom(1, 300, 3_000, 20_000),
  }),
  { minLength: 1, maxLength: 5 },
)
const platforms = fc.constantFrom('mt4', 'mt5')

/** A desk that records its closes, and a broker whose history folds what is wholly closed. */
const createRecordingDesk = (platform: string) => {
  const desk = createChangeDesk({ brokerType: platform }, [openPosition({ volume: 1 })])
  const events = new Map<string, ServiceEvent>()
  const happened = (_: Owner, told: readonly ServiceEvent[]): void => {
    for (const event of told) if (!events.has(event.key)) events.set(event.key, event)
  }
  const fake = createFakeCloseRecords(happened, desk.clock)
  const away = { isAway: false }
  const closeRecords: CloseRecords = {
    ...fake.records,
    advance: (...step) => (away.isAway ? TE.left(serviceUnavailable('away')) : fake.records.advance(...step)),
  }
  const deals = () => desk.positionDesk.closed(desk.account.id)
  const histories: Histories = {
    read: () => async () => {
      const last = deals().at(-1)
      const isClosed = desk.positionDesk.positions(desk.account.id).length === 0 && last !== undefined
      const trade = { ...tradeLike, positionId: '42', closedAt: last?.at ?? 0 }
      const trades = isClosed ? [{ accountId: desk.account.id, userId: owner.userId, closingDealId: last.id, trade }] : []
      return { _tag: 'Right', right: { accountId: desk.account.id, readAt: desk.clock.now(), trades, skipped: [] } }
    },
  }
  const ports = { ...desk, closeRecords, histories }
  /** Works on all jobs that are due, or come due, until none is left. */
  const settleAll = async (): Promise<void> => {
    for (;;) {
      const dueAt = Math.min(...fake.all().map((one) => one.dueAt ?? Infinity))
      if (dueAt === Infinity) return
      desk.wait(Math.max(0, dueAt - desk.clock.now()))
      for (const one of fake.all()) {
        if (one.dueAt === null || one.dueAt > desk.clock.now()) continue
        const settled = await settleClose(ports)(one)()
        if (settled._tag === 'Left') throw new Error(settled.left._tag)
      }
    }
  }
  const told = (type: string): readonly ServiceEvent[] => [...events.values()].filter((event) => event.type === type)
  return { ...ports, away, deals, settleAll, told, recorded: fake.all }
}

const tradeLike = {
  symbol: 'EURUSD',
  side: 'buy' as const,
  volume: 1,
  entryPrice: 1.1,
  exitPrice: 1.2,
  profit: 30,
  commission: 0,
  swap: 0,
  netProfit: 30,
  openedAt: 1_000,
  holdingTime: 5,
}

type RecordingDesk = ReturnType<typeof createRecordingDesk>

const closeOnce = async (desk: RecordingDesk, { cents, outcome, lag, isLost, pauseMs }: Close): Promise<void> => {
  const [held] = desk.positionDesk.positions(desk.account.id)
  if (held === undefined || held.volume * 100 < cents) return
  // The fourth generation executes all or nothing.
  const isWhole = desk.account.brokerType === 'mt4' && outcome === 'do_half'
  desk.positionDesk.next(isWhole ? 'do' : outcome)
  if (lag > 0) desk.positionDesk.lagNext({ deals: lag })
  desk.away.isAway = isLost && outcome !== 'accept'
  await closePosition(desk)({ owner }, formatPositionId(desk.account.id, held.ticket), cents === 0 ? undefined : cents / 100, withoutKey)()
  desk.away.isAway = false
  desk.wait(pauseMs)
}

const numbersOf = (events: readonly ServiceEvent[], field: string): readonly number[] => events.map(({ data }) => Number(data[field]))

const sorted = (numbers: readonly number[]): readonly number[] => numbers.toSorted((a, b) => a - b)

describe('closes that are recorded', () => {
  it('are told once for each execution, with its price and profit, and nothing else is told', async () => {
    await fc.assert(
      fc.asyncProperty(platforms, closes, async (platform, all) => {
        const desk = createRecordingDesk(platform)
        for (const close of all) await closeOnce(desk, close)
        desk.positionDesk.execute()
        await desk.settleAll()
        const told = desk.told('position.closed')
        const deals = desk.deals()
        expect(sorted(numbersOf(told, 'closed_volume'))).toStrictEqual(sorted(deals.map(({ volume }) => volume ?? 0)))
        expect(sumExactly(numbersOf(told, 'realized_pnl'))).toBe(sumExactly(deals.map(({ profit }) => profit)))
        for (const { data } of told) expect(data).toMatchObject({ exit_price: 1.2, symbol: 'EURUSD', type: 'buy' })
        const isClosed = desk.positionDesk.positions(desk.account.id).length === 0
        expect(desk.told('trade.closed')).toHaveLength(isClosed ? 1 : 0)
        expect(desk.recorded().every(({ progress }) => progress.step === 'ended')).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('are told as others answered them, where nothing went wrong', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), platforms, async (cents, platform) => {
        const desk = createRecordingDesk(platform)
        await closeOnce(desk, { cents, outcome: 'do', lag: 0, isLost: false, pauseMs: 1 })
        const rest = Math.round(100 - cents) / 100
        expect(desk.told('position.closed')).toMatchObject([
          { data: { closed_volume: cents / 100, remaining_volume: rest, is_partial: rest > 0, entry_price: 1.1 } },
        ])
        expect(desk.told('trade.closed')).toStrictEqual([])
        await desk.settleAll()
        expect(desk.told('trade.closed')).toHaveLength(rest > 0 ? 0 : 1)
      }),
    )
  })
})

describe('a close of which nobody wrote the end', () => {
  const lost = { cents: 10, lag: 0, isLost: true, pauseMs: 1 } as const

  it('is told with its deal, ten seconds later', async () => {
    const desk = createRecordingDesk('mt5')
    const sentAt = desk.clock.now()
    await closeOnce(desk, { ...lost, outcome: 'do_and_lose_the_answer' })
    expect(desk.told('position.closed')).toStrictEqual([])
    await desk.settleAll()
    const [event] = desk.told('position.closed')
    expect(event?.data).toMatchObject({ closed_volume: 0.1, remaining_volume: 0.9, is_partial: true, exit_price: 1.2 })
    expect((event?.at ?? 0) - sentAt).toBe(10 * secondMs)
  })

  it('is dropped where the broker shows nothing of it for five minutes, and not before', async () => {
    const desk = createRecordingDesk('mt5')
    const sentAt = desk.clock.now()
    await closeOnce(desk, { ...lost, outcome: 'lose_the_request' })
    await desk.settleAll()
    expect(desk.told('position.closed')).toStrictEqual([])
    expect(desk.clock.now() - sentAt).toBeGreaterThanOrEqual(310 * secondMs)
    expect(desk.clock.now() - sentAt).toBeLessThan(400 * secondMs)
  })

  it('waits for as long as the broker cannot be read, and is told then', async () => {
    const desk = createRecordingDesk('mt5')
    await closeOnce(desk, { ...lost, outcome: 'do' })
    desk.positionDesk.fail(desk.account.id, brokerUnavailable(desk.account.id, 'away'))
    const [job] = desk.recorded()
    if (job === undefined) return expect.fail('was not recorded')
    for (let look = 0; look < 500; look++) {
      desk.wait(3_600 * secondMs)
      const [now] = desk.recorded()
      await settleClose(desk)({ ...job, version: now?.version ?? 0 })()
    }
    expect(desk.told('position.closed')).toStrictEqual([])
    desk.positionDesk.heal(desk.account.id)
    await desk.settleAll()
    expect(desk.told('position.closed')).toHaveLength(1)
  })

  it('is not taken for a close that another made and was told of', async () => {
    const desk = createRecordingDesk('mt5')
    await closeOnce(desk, { ...lost, outcome: 'lose_the_request' })
    await closeOnce(desk, { ...lost, outcome: 'do', isLost: false })
    await desk.settleAll()
    expect(desk.told('position.closed')).toHaveLength(1)
  })
})

describe('a close that was made, and whose deal does not show', () => {
  it('is told with its price once it does', async () => {
    const desk = createRecordingDesk('mt5')
    await closeOnce(desk, { cents: 10, outcome: 'do', lag: 14, isLost: false, pauseMs: 1 })
    expect(desk.told('position.closed')).toStrictEqual([])
    await desk.settleAll()
    expect(desk.told('position.closed')).toMatchObject([{ data: { exit_price: 1.2, realized_pnl: 3 } }])
  })

  it('is told without it after an hour in which the history could be read', async () => {
    const desk = createRecordingDesk('mt5')
    const sentAt = desk.clock.now()
    await closeOnce(desk, { cents: 10, outcome: 'do', lag: 10_000, isLost: false, pauseMs: 1 })
    await desk.settleAll()
    const [event, ...more] = desk.told('position.closed')
    expect(more).toStrictEqual([])
    expect(event?.data).toMatchObject({ closed_volume: 0.1, remaining_volume: 0.9, exit_price: null, realized_pnl: null })
    expect(Date.parse(String(event?.data['closed_at'])) - sentAt).toBe(2 * secondMs)
    expect((event?.at ?? 0) - sentAt).toBeGreaterThanOrEqual(3_600 * secondMs)
  })

  it('is told without it after a day in which the history could not be read', async () => {
    const desk = createRecordingDesk('mt5')
    const sentAt = desk.clock.now()
    desk.positionDesk.fail(desk.account.id, brokerUnavailable(desk.account.id, 'away'), ['closingDeals'])
    await closeOnce(desk, { cents: 10, outcome: 'do', lag: 0, isLost: false, pauseMs: 0 })
    await desk.settleAll()
    const [event, ...more] = desk.told('position.closed')
    expect(more).toStrictEqual([])
    expect(event?.data).toMatchObject({ closed_volume: 0.1, remaining_volume: 0.9, exit_price: null, realized_pnl: null })
    expect((event?.at ?? 0) - sentAt).toBeGreaterThanOrEqual(86_400 * secondMs)
  })
})
