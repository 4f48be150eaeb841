// POST /positions/:id/close: what is sent, and what is told of it, whatever the broker does and shows.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { brokerOutcomeUnknown, brokerRateLimited, brokerUnavailable, serviceUnavailable } from '../../src/errors.ts'
import type { BrokerDeal } from '../../src/journal/broker-deal.ts'
import { withoutKey } from '../../src/ports/idempotency.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import { minuteMs, secondMs } from '../../src/primitives/instant.ts'
import { closePosition } from '../../src/use-cases/close-position.ts'
import type { ClosedPosition } from '../../src/use-cases/close-position.ts'
import { closingDealsOf } from '../../src/testing/fake-position-book.ts'
import { openPosition } from '../../src/testing/open-position.ts'
import { createChangeDesk, meanwhile, noon } from './change-desk.ts'
import type { ChangeDesk } from './change-desk.ts'
import { owner, rightOf } from './desk.ts'

const close = (desk: ChangeDesk, volume?: number) => closePosition(desk)({ owner }, desk.id, volume, withoutKey)

const closedOf = async (desk: ChangeDesk, volume?: number): Promise<ClosedPosition> => (await rightOf(close(desk, volume))).closed

const volumesOf = ({ closedVolume, remainingVolume }: ClosedPosition): readonly number[] => [closedVolume, remainingVolume]
const fillOf = ({ closePrice, realizedPnl, closedAt }: ClosedPosition): readonly unknown[] => [closePrice, realizedPnl, closedAt]

const notFound = [null, null, null]

/** The desk with a journal that has, after each read of the broker's history, the deals that the test says. */
const withDeals = (desk: ChangeDesk, dealsAfter: (reads: number, own: readonly BrokerDeal[]) => readonly BrokerDeal[]): ChangeDesk => {
  const { positionDesk, account } = desk
  const deals = () => dealsAfter(positionDesk.reads('synchroniseJournal'), positionDesk.closed(account.id))
  return {
    ...desk,
    journal: { ...desk.journal, closingDeals: (_, orderId, from) => TE.fromIO(() => closingDealsOf(deals(), orderId, from)) },
  }
}

/** The deal of a close of as many lots by another. */
const foreign = ([own]: readonly BrokerDeal[]): readonly BrokerDeal[] => (own === undefined ? [] : [{ ...own, id: 'f', orderId: '7' }])

const unavailable = () => TE.left(serviceUnavailable('away'))

const never = () => new Promise<never>(() => {})

/** A desk whose next change is lost on its way, and that then holds positions of these volumes. */
const unanswered = (...volumes: readonly number[]): ChangeDesk => {
  const desk = createChangeDesk()
  const after = volumes.map((volume) => openPosition({ volume }))
  desk.positionDesk.next('lose_the_request')
  return meanwhile(desk, () => desk.positionDesk.put(desk.account.id, after))
}

describe('POST /positions/:id/close', () => {
  it.each([undefined, 0.3, 0.1 + 0.2])('closes all for %s, and tells it with its deal', async (volume) => {
    const desk = createChangeDesk()
    desk.wait(7)
    const result = await rightOf(close(desk, volume))
    expect(desk.positionDesk.sent()).toEqual([{ kind: 'closePosition', accountId: desk.account.id, ticket: '42', volume: null }])
    expect(result).toEqual({
      closed: {
        accountId: desk.account.id,
        ticket: '42',
        orderId: '1001',
        closedVolume: 0.3,
        remainingVolume: 0,
        closePrice: 1.2,
        realizedPnl: 30,
        closedAt: noon + 7,
      },
      provenance: { source: desk.broker.source, accounts: [desk.account.id], readAt: noon + 7 },
    })
    expect(desk.held()).toBeUndefined()
    expect(desk.clock.now()).toBe(noon + 7)
  })

  it('closes a part and leaves the rest exactly; the next closes more', async () => {
    const desk = createChangeDesk()
    expect(await closedOf(desk, 0.1)).toMatchObject({ closedVolume: 0.1, remainingVolume: 0.2, realizedPnl: 10 })
    expect(desk.positionDesk.sent()).toMatchObject([{ volume: 0.1 }])
    expect(await closedOf(desk, 0.15)).toMatchObject({ closedVolume: 0.15, remainingVolume: 0.05, realizedPnl: 15 })
    expect(desk.held()?.volume).toBe(0.05)
    expect(await closedOf(desk)).toMatchObject({ closedVolume: 0.05, remainingVolume: 0, realizedPnl: 5 })
  })

  it.each([0.31, 1e300])('refuses %d of 0.3 lots, and sends nothing', async (volume) => {
    const desk = createChangeDesk()
    expect(await close(desk, volume)()).toEqual(E.left({ _tag: 'InvalidVolume', volume, openVolume: 0.3 }))
    expect(desk.positionDesk.sent()).toEqual([])
  })

  it.each([
    ['all', undefined, [0.15, 0.15]],
    ['a part', 0.2, [0.1, 0.2]],
  ] as const)('tells what was done where the broker did half of %s', async (_, volume, volumes) => {
    const desk = createChangeDesk()
    desk.positionDesk.next('do_half')
    const closed = await closedOf(desk, volume)
    expect(volumesOf(closed)).toEqual(volumes)
    expect(fillOf(closed)).toEqual([1.2, volumes[0] * 100, noon])
    expect(desk.held()?.volume).toBe(volumes[1])
  })

  it('tells what is left where another closes the rest at the same moment', async () => {
    const desk = createChangeDesk()
    const elsewhere = meanwhile(desk, () => desk.positionDesk.put(desk.account.id, []))
    const closed = await closedOf(elsewhere, 0.1)
    expect([...volumesOf(closed), ...fillOf(closed)]).toEqual([0.1, 0, 1.2, 10, noon])
  })

  it('tells the new number of the rest where MT4 gives it one', async () => {
    const desk = createChangeDesk({ brokerType: 'mt4' })
    const closed = await closedOf(desk, 0.1)
    const [rest] = desk.positionDesk.positions(desk.account.id)
    expect(rest?.ticket).not.toBe('42')
    expect(closed).toMatchObject({ ticket: '42', closedVolume: 0.1, remainingVolume: 0.2, remainingTicket: rest?.ticket, realizedPnl: 10 })
    expect(await closedOf(createChangeDesk({ brokerType: 'mt4' }))).not.toHaveProperty('remainingTicket')
    expect(await closedOf(createChangeDesk(), 0.1)).not.toHaveProperty('remainingTicket')
  })

  it('does not take the deal of an earlier close on MT4, where both have the number of the position', async () => {
    const earlier: BrokerDeal = {
      id: '9',
      kind: 'sell',
      side: 'sell',
      entry: 'out',
      orderId: '42',
      positionId: '42',
      volume: 0.1,
      price: 1.1,
      profit: 7,
      commission: 0,
      swap: 0,
      time: noon,
    }
    const late = withDeals(createChangeDesk({ brokerType: 'mt4' }), () => [earlier])
    expect(fillOf(await closedOf(late, 0.1))).toEqual(notFound)
    const both = withDeals(createChangeDesk({ brokerType: 'mt4' }), (_, own) => [earlier, ...own])
    expect(fillOf(await closedOf(both, 0.1))).toEqual([1.2, 10, noon])
  })

  it('tells on MT4 the volumes as they were sent while the rest is not to be found', async () => {
    const desk = createChangeDesk({ brokerType: 'mt4' })
    const elsewhere = meanwhile(desk, () => desk.positionDesk.put(desk.account.id, []))
    const closed = await closedOf(elsewhere, 0.1)
    expect(closed).toMatchObject({ closedVolume: 0.1, remainingVolume: 0.2 })
    expect(closed).not.toHaveProperty('remainingTicket')
  })
})

describe('the closing deal', () => {
  it('is waited for', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.lagNext({ deals: 5 })
    expect(fillOf(await closedOf(desk))).toEqual([1.2, 30, noon])
    expect(desk.clock.now()).toBe(noon + 5 * 250)
  })

  it('is waited for no longer than two seconds', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.lagNext({ deals: 1_000 })
    const closed = await closedOf(desk)
    expect([...volumesOf(closed), ...fillOf(closed)]).toEqual([0.3, 0, ...notFound])
    expect([closed.orderId, desk.clock.now()]).toEqual(['1001', noon + 2 * secondMs])
    expect(desk.positionDesk.reads('synchroniseJournal')).toBeLessThanOrEqual(9)
  })

  it('is not waited for longer where a read of the journal, or every read, hangs', async () => {
    for (const isJournalAlone of [true, false]) {
      const desk = createChangeDesk()
      const hanging = isJournalAlone ? { ...desk, synchroniseJournal: () => never } : meanwhile(desk, () => void desk.positionDesk.hold())
      const closed = await closedOf(hanging, 0.1)
      expect([...volumesOf(closed), ...fillOf(closed)]).toEqual([0.1, 0.2, ...notFound])
      expect(desk.clock.now()).toBe(noon + 2 * secondMs)
    }
  })

  it('is looked for again after a read that failed, but not where the broker asks to wait', async () => {
    const desk = createChangeDesk()
    const { account, positionDesk } = desk
    positionDesk.fail(account.id, brokerUnavailable(account.id, 'down'), ['synchroniseJournal'])
    expect(fillOf(await closedOf(desk, 0.1))).toEqual(notFound)
    expect(positionDesk.reads('synchroniseJournal')).toBeGreaterThan(1)
    const asked = positionDesk.reads('synchroniseJournal')
    positionDesk.fail(account.id, brokerRateLimited(account.id, noon + minuteMs, noon), ['synchroniseJournal'])
    expect(fillOf(await closedOf(desk, 0.1))).toEqual(notFound)
    expect(positionDesk.reads('synchroniseJournal')).toBe(asked + 1)
  })

  it('is told whole, where a close was executed in parts that show one after the other', async () => {
    const desk = withDeals(createChangeDesk(), (reads, [whole]) => {
      if (whole === undefined) return []
      const first = { ...whole, volume: 0.1, profit: 0.1 }
      return reads < 3 ? [first] : [first, { ...whole, id: 'b', volume: 0.2, price: 1.203, profit: 0.2, time: noon + 9 }]
    })
    expect(fillOf(await closedOf(desk))).toEqual([1.202, 0.3, noon + 9])
    expect(desk.clock.now()).toBe(noon + 500)
  })

  it('is none of those that closed parts before', async () => {
    const desk = createChangeDesk()
    await rightOf(close(desk, 0.1))
    desk.positionDesk.lagNext({ deals: 1_000 })
    expect(fillOf(await closedOf(desk, 0.1))).toEqual(notFound)
  })

  it.each(['mt5', 'mt4'])('is found on %s by the number of its order, and not looked for without it', async (brokerType) => {
    const found = await closedOf(createChangeDesk({ brokerType }), 0.1)
    expect([found.orderId, ...fillOf(found)]).toEqual([brokerType === 'mt4' ? '42' : '1001', 1.2, 10, noon])
    const desk = createChangeDesk({ brokerType })
    const { closePosition: send } = desk.positionDesk
    const withoutNumber: ChangeDesk['positionDesk'] = {
      ...desk.positionDesk,
      closePosition: (...change) =>
        pipe(
          send(...change),
          TE.map(({ progress }) => ({ progress, orderId: null })),
        ),
    }
    const closed = await closedOf({ ...desk, positionDesk: withoutNumber }, 0.1)
    expect([closed.orderId, ...volumesOf(closed), ...fillOf(closed)]).toEqual([null, 0.1, 0.2, ...notFound])
    expect(desk.positionDesk.reads('synchroniseJournal')).toBe(0)
  })

  it('is never that of another close of as many lots at the same time', async () => {
    expect(
      fillOf(
        await closedOf(
          withDeals(createChangeDesk(), (_, own) => foreign(own)),
          0.1,
        ),
      ),
    ).toEqual(notFound)
    const both = withDeals(createChangeDesk(), (reads, own) => [...foreign(own), ...(reads > 2 ? own : [])])
    expect(fillOf(await closedOf(both, 0.1))).toEqual([1.2, 10, noon])
  })

  it('is looked for again where the database cannot be read', async () => {
    const desk = createChangeDesk()
    for (const part of [{ synchroniseJournal: unavailable }, { journal: { ...desk.journal, closingDeals: unavailable } }]) {
      const closed = await closedOf({ ...desk, ...part }, 0.1)
      expect([closed.closedVolume, ...fillOf(closed)]).toEqual([0.1, ...notFound])
    }
    const { closingDeals } = desk.journal
    let reads = 0
    const recovering = {
      ...desk.journal,
      closingDeals: (...which: Parameters<typeof closingDeals>) => ((reads += 1) < 3 ? unavailable() : closingDeals(...which)),
    }
    expect(fillOf(await closedOf({ ...desk, journal: recovering }, 0.05))).toEqual([1.2, 5, noon + 4 * secondMs])
    expect(desk.clock.now()).toBe(noon + 4 * secondMs + 500)
  })

  it('is not taken for that of a close just before it, of as many lots, whose answer was lost', async () => {
    const desk = createChangeDesk()
    expect(await closedOf(desk, 0.1)).toMatchObject({ orderId: '1001', realizedPnl: 10 })
    desk.wait(3 * secondMs)
    desk.positionDesk.next('do_and_lose_the_answer')
    desk.positionDesk.lagNext({ deals: 1_000 })
    const second = await closedOf(desk, 0.1)
    expect(volumesOf(second)).toEqual([0.1, 0.1])
    expect([second.orderId, ...fillOf(second)]).toEqual([null, null, null, null])
  })
})

describe('a read of the journal', () => {
  it('is wanted before a close is sent, for deals that show late, and after it, whatever its outcome', async () => {
    const desk = createChangeDesk()
    let wanted: readonly number[] = []
    await closedOf(
      meanwhile(desk, () => {
        wanted = [...desk.positionDesk.wanted()]
      }),
    )
    expect([wanted, desk.positionDesk.wanted()]).toEqual([[noon + 10 * secondMs], [noon + 10 * secondMs, noon]])
    const unknown = unanswered(0.3)
    expect(E.isLeft(await close(unknown)())).toBe(true)
    expect(unknown.positionDesk.wanted()).toEqual([noon + 10 * secondMs, noon])
  })

  it('that cannot be wanted leaves nothing sent', async () => {
    const desk = createChangeDesk()
    const journal = { ...desk.journal, want: unavailable }
    expect(await close({ ...desk, journal })()).toEqual(E.left(serviceUnavailable('away')))
    expect(desk.positionDesk.sent()).toEqual([])
  })

  it('is not wanted for a close that is refused before it is sent', async () => {
    const desk = createChangeDesk()
    await close(desk, 9)()
    expect(desk.positionDesk.wanted()).toEqual([])
  })
})

describe('a close that the broker confirmed', () => {
  it('is told as it was sent where the book does not show it within two seconds', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.lagNext({ positions: 1_000 })
    const { closed, provenance } = await rightOf(close(desk, 0.1))
    expect([...volumesOf(closed), closed.realizedPnl]).toEqual([0.1, 0.2, 10])
    expect([desk.clock.now(), provenance.readAt]).toEqual([noon + 2 * secondMs, noon])
  })

  it('is told as of the read that shows it', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.lagNext({ positions: 2 })
    expect((await rightOf(close(desk, 0.1))).provenance.readAt).toBe(noon + 500)
  })

  it('is told as it was sent where nothing can be read any more', async () => {
    const desk = createChangeDesk()
    const { account, positionDesk } = desk
    const unreadable = meanwhile(desk, () => positionDesk.fail(account.id, brokerUnavailable(account.id, 'down')))
    const closed = await closedOf(unreadable)
    expect([...volumesOf(closed), ...fillOf(closed)]).toEqual([0.3, 0, ...notFound])
    expect(desk.held()).toBeUndefined()
  })

  it('holds the position until the book shows it, so that the next close is of what is left', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.lagNext({ positions: 3 })
    const closes = await Promise.all([closedOf(desk, 0.2), closedOf(desk)])
    expect(closes.map(volumesOf)).toEqual([
      [0.2, 0.1],
      [0.1, 0],
    ])
    expect(closes.map(({ realizedPnl }) => realizedPnl)).toEqual([20, 10])
  })
})

describe('a close that the broker has only accepted', () => {
  it('is told as the book shows it, once it does', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.next('accept')
    const { pause } = desk
    const executing: typeof pause = (ms) => async () => {
      await pause(ms)()
      desk.positionDesk.execute()
    }
    expect(volumesOf(await closedOf({ ...desk, pause: executing }, 0.1))).toEqual([0.1, 0.2])
  })

  it.each([undefined, 0.1])('stays unknown where the book does not show it within two seconds (%s)', async (volume) => {
    const desk = createChangeDesk()
    desk.positionDesk.next('accept')
    expect(await close(desk, volume)()).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
    expect([desk.clock.now(), desk.positionDesk.sent().length]).toEqual([noon + 2 * secondMs, 1])
  })

  it('stays unknown where a part was done and nothing can be read any more', async () => {
    const desk = createChangeDesk()
    const { account, positionDesk } = desk
    positionDesk.next('do_half')
    const unreadable = meanwhile(desk, () => positionDesk.fail(account.id, brokerUnavailable(account.id, 'down')))
    expect(await close(unreadable)()).toEqual(E.left(brokerOutcomeUnknown(account.id)))
  })

  it('tells on MT4 the rest of a close of all of which a part was done', async () => {
    const desk = createChangeDesk({ brokerType: 'mt4' })
    desk.positionDesk.next('do_half')
    const closed = await closedOf(desk)
    const [rest] = desk.positionDesk.positions(desk.account.id)
    expect(closed).toMatchObject({ closedVolume: 0.15, remainingVolume: 0.15, remainingTicket: rest?.ticket, realizedPnl: 15 })
  })
})

describe('a close of which no answer came', () => {
  it.each<[what: string, desk: () => ChangeDesk, volume: number | undefined, volumes: readonly number[] | undefined]>([
    ['all is gone', () => unanswered(), undefined, [0.3, 0]],
    ['a part of all is gone', () => unanswered(0.1), undefined, undefined],
    ['all is as it was', () => unanswered(0.3), undefined, undefined],
    ['the part is gone', () => unanswered(0.2), 0.1, [0.1, 0.2]],
    ['less than the part is gone', () => unanswered(0.25), 0.1, undefined],
    ['more than the part is gone', () => unanswered(0.1), 0.1, undefined],
    ['all is gone, of which a part was to go', () => unanswered(), 0.1, undefined],
  ])('is decided by one read: %s', async (_, deskOf, volume, volumes) => {
    const desk = deskOf()
    const outcome = await close(desk, volume)()
    if (volumes === undefined) {
      expect(outcome).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
      expect(desk.positionDesk.reads('synchroniseJournal')).toBe(0)
    } else {
      expect(E.isRight(outcome) && volumesOf(outcome.right.closed)).toEqual(volumes)
    }
    expect([desk.positionDesk.reads('freshPositions'), desk.positionDesk.sent().length]).toEqual([2, 1])
  })

  it('is told without its deal, which nothing tells from others, where the answer was lost', async () => {
    const desk = createChangeDesk()
    desk.positionDesk.next('do_and_lose_the_answer')
    const closed = await closedOf(desk, 0.1)
    expect(volumesOf(closed)).toEqual([0.1, 0.2])
    expect([closed.orderId, ...fillOf(closed)]).toEqual([null, null, null, null])
    expect(desk.positionDesk.reads('synchroniseJournal')).toBe(0)
  })

  it('is told with the new number of the rest on MT4', async () => {
    const desk = createChangeDesk({ brokerType: 'mt4' })
    desk.positionDesk.next('do_and_lose_the_answer')
    const closed = await closedOf(desk, 0.1)
    expect(closed.remainingTicket).toBe(desk.positionDesk.positions(desk.account.id)[0]?.ticket)
  })

  it('is not taken for done on MT4 where all was to go and a rest is there', async () => {
    const desk = createChangeDesk({ brokerType: 'mt4' })
    desk.positionDesk.next('lose_the_request')
    const half = meanwhile(desk, () => desk.positionDesk.put(desk.account.id, [openPosition({ ticket: '43' as Ticket, volume: 0.1 })]))
    expect(await close(half)()).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
  })

  it('is not taken for done on MT4 for a position that looks like the rest and was there before', async () => {
    const twin = openPosition({ ticket: '7' as Ticket, volume: 0.2 })
    const desk = createChangeDesk({ brokerType: 'mt4' }, [openPosition(), twin])
    desk.positionDesk.next('lose_the_request')
    const gone = meanwhile(desk, () => desk.positionDesk.put(desk.account.id, [twin]))
    expect(await close(gone, 0.1)()).toEqual(E.left(brokerOutcomeUnknown(desk.account.id)))
  })
})
