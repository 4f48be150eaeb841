// What is recorded of a close (6): once it is known, after the reply is decided, and without a say in it.
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { serviceUnavailable } from '../../src/errors.ts'
import type { ServiceEvent } from '../../src/events/service-event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { AccountHistory } from '../../src/trades/account-history.ts'
import { closePosition } from '../../src/use-cases/close-position.ts'
import { openPosition } from '../positions/open-position.ts'
import { createChangeDesk, noon } from './change-desk.ts'
import { owner, rightOf } from './desk.ts'

const trade = {
  positionId: '42',
  symbol: 'EURUSD',
  side: 'buy' as const,
  volume: 0.3,
  entryPrice: 1,
  exitPrice: 1.1,
  profit: 30,
  commission: -1,
  swap: 0,
  netProfit: 29,
  openedAt: noon - 5_000,
  closedAt: noon,
  holdingTime: 5,
}

interface Telling {
  /** How many attempts to record fail. */
  readonly failures?: number
  readonly trades?: readonly (typeof trade)[]
}

const createTellingDesk = ({ failures = 0, trades = [trade] }: Telling = {}) => {
  const desk = createChangeDesk({}, [openPosition({ volume: 0.3 })])
  const recorded: ServiceEvent[] = []
  let left = failures
  let reads = 0
  const eventLog: EventLog = {
    isRecording: true,
    record: (whose, events) => {
      expect(whose).toStrictEqual(owner)
      if (left > 0) {
        left -= 1
        return TE.left(serviceUnavailable('away'))
      }
      recorded.push(...events)
      return TE.right(undefined)
    },
  }
  const history: AccountHistory = {
    accountId: desk.account.id,
    readAt: noon,
    skipped: [],
    trades: trades.map((one) => ({ accountId: desk.account.id, userId: owner.userId, closingDealId: '9', trade: one })),
  }
  const histories = {
    read: () => {
      reads += 1
      return TE.right(history)
    },
  }
  const ports = { ...desk, eventLog, histories, pause: () => T.of(undefined) }
  const close = (volume?: number) => rightOf(closePosition({ ...ports, pause: desk.pause })({ owner }, desk.id, volume))
  return { close, recorded, reads: () => reads, id: desk.id }
}

describe('a close that was made', () => {
  it('of a part is told as a part, and as no trade', async () => {
    const desk = createTellingDesk()
    const { closed } = await desk.close(0.1)
    expect(desk.recorded).toMatchObject([
      {
        type: 'position.closed',
        data: {
          position_id: desk.id,
          closed_volume: 0.1,
          remaining_volume: 0.2,
          is_partial: true,
          exit_price: closed.closePrice,
          realized_pnl: closed.realizedPnl,
        },
      },
    ])
    expect(desk.reads()).toBe(0)
  })

  it('of all is told with the trade that it made', async () => {
    const desk = createTellingDesk()
    await desk.close()
    expect(desk.recorded.map(({ type, data }) => [type, data['position_id']])).toStrictEqual([
      ['position.closed', desk.id],
      ['trade.closed', desk.id],
    ])
    expect(desk.recorded[0]?.data).toMatchObject({ closed_volume: 0.3, remaining_volume: 0, is_partial: false })
  })

  it('of all is told without a trade while the history shows none', async () => {
    const desk = createTellingDesk({ trades: [{ ...trade, positionId: '43' }] })
    await desk.close()
    expect(desk.recorded.map(({ type }) => type)).toStrictEqual(['position.closed'])
  })

  it('in two parts is told twice, under two names', async () => {
    const desk = createTellingDesk()
    await desk.close(0.1)
    await desk.close(0.1)
    expect(new Set(desk.recorded.map(({ key }) => key)).size).toBe(2)
  })

  it('is told once the database is back, and answered all the same where that takes too long', async () => {
    const late = createTellingDesk({ failures: 4 })
    await late.close(0.1)
    expect(late.recorded).toHaveLength(1)
    const never = createTellingDesk({ failures: 100 })
    expect((await never.close(0.1)).closed.closedVolume).toBe(0.1)
    expect(never.recorded).toStrictEqual([])
  })
})

describe('a close that was refused', () => {
  it('is told to nobody', async () => {
    const desk = createTellingDesk()
    await expect(desk.close(9)).rejects.toThrow('InvalidVolume')
    expect(desk.recorded).toStrictEqual([])
  })
})
