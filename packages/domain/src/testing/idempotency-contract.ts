// How every IdempotencyStore keeps its keys, and how orders keep their replies under them, numbered.
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { idempotencyInProgress } from '../errors.ts'
import { maxOpenOrders } from '../orders/limits.ts'
import type { Claimed, IdempotencyClaim, KeptReply } from '../access/idempotency-key.ts'
import type { Owner } from '../primitives/ids.ts'
import { dayMs, minuteMs, secondMs } from '../primitives/instant.ts'
import { newClaim, newOrder, newReply, someProgram, toRecord } from './stored-orders.ts'
import type { OpenOrderPorts, OrderPorts } from './stored-orders.ts'
import { rightOf, storedOwner } from './stored-records.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')

/** Attempts with one key: two of one request, and one of another request. */
type Attempt = 'first' | 'second' | 'other'
type Operation = 'claim' | 'begin' | 'keep' | 'keep secret' | 'release' | 'record'

/** When (milliseconds since noon), who, what, and the answer: a kind of `Claimed`, the tag of a refusal, or `done`. A kept reply names its attempt. */
type Step = readonly [at: number, who: Attempt, what: Operation, answer: string]

const inProgress = 'IdempotencyInProgress'
const reused = 'IdempotencyKeyReused'

const scripts: readonly (readonly [title: string, steps: readonly Step[]])[] = [
  [
    'I1 gives a claim that has not begun to another attempt after ten seconds, and not before',
    [
      [0, 'first', 'claim', 'claimed'],
      [9_999, 'second', 'claim', inProgress],
      [10_000, 'second', 'claim', 'claimed'],
    ],
  ],
  [
    'I2 does nothing for an attempt whose claim was given to another',
    [
      [0, 'first', 'claim', 'claimed'],
      [10_000, 'second', 'claim', 'claimed'],
      [10_001, 'first', 'begin', inProgress],
      [10_001, 'first', 'record', inProgress],
      [10_001, 'first', 'keep', 'done'],
      [10_001, 'first', 'release', 'done'],
      [10_002, 'first', 'claim', inProgress],
      [10_003, 'second', 'begin', 'done'],
      [10_003, 'second', 'keep', 'done'],
      [10_004, 'first', 'claim', 'second'],
    ],
  ],
  [
    'I3 lets a slow attempt begin whose claim nobody else has wanted',
    [
      [0, 'first', 'claim', 'claimed'],
      [minuteMs, 'first', 'begin', 'done'],
      [minuteMs, 'second', 'claim', inProgress],
    ],
  ],
  [
    'I4 never gives away a claim that has begun: in progress for 30 seconds, then unknown for the rest of 24 hours',
    [
      [0, 'first', 'claim', 'claimed'],
      [5_000, 'first', 'begin', 'done'],
      [34_999, 'second', 'claim', inProgress],
      [35_000, 'second', 'claim', 'unknown'],
      [35_000, 'second', 'begin', inProgress],
      [dayMs + 4_999, 'second', 'claim', 'unknown'],
      [dayMs + 5_000, 'second', 'claim', 'claimed'],
    ],
  ],
  [
    'I5 answers with the kept reply for 24 hours, with the first where several were kept, also with one that came late',
    [
      [0, 'first', 'claim', 'claimed'],
      [0, 'first', 'begin', 'done'],
      [minuteMs, 'second', 'claim', 'unknown'],
      [minuteMs, 'first', 'keep', 'done'],
      [minuteMs, 'first', 'keep', 'done'],
      [minuteMs, 'second', 'claim', 'first'],
      [dayMs - 1, 'second', 'claim', 'first'],
      [dayMs, 'other', 'claim', 'claimed'],
    ],
  ],
  [
    'I6 keeps a reply that holds a secret as any other',
    [
      [0, 'first', 'claim', 'claimed'],
      [0, 'first', 'keep secret', 'done'],
      [1, 'second', 'claim', 'first secret'],
    ],
  ],
  [
    'I7 refuses another request with the key, whatever the state of the first, until the key is free',
    [
      [0, 'first', 'claim', 'claimed'],
      [0, 'other', 'claim', reused],
      [0, 'other', 'begin', inProgress],
      [1, 'first', 'begin', 'done'],
      [minuteMs, 'other', 'claim', reused],
      [minuteMs, 'first', 'keep', 'done'],
      [minuteMs, 'other', 'claim', reused],
    ],
  ],
  [
    'I8 frees a key that its holder releases, begun or not, for any request',
    [
      [0, 'first', 'claim', 'claimed'],
      [0, 'second', 'release', 'done'],
      [0, 'second', 'claim', inProgress],
      [0, 'first', 'release', 'done'],
      [0, 'other', 'claim', 'claimed'],
      [0, 'other', 'begin', 'done'],
      [0, 'other', 'release', 'done'],
      [0, 'first', 'claim', 'claimed'],
    ],
  ],
  [
    'I9 releases no key that has a reply, and lets no attempt begin twice or after its reply',
    [
      [0, 'first', 'claim', 'claimed'],
      [0, 'first', 'begin', 'done'],
      [0, 'first', 'begin', inProgress],
      [0, 'first', 'keep', 'done'],
      [0, 'first', 'begin', inProgress],
      [0, 'first', 'release', 'done'],
      [0, 'second', 'claim', 'first'],
    ],
  ],
  [
    'I10 takes a claim for lapsed when the clock was set back meanwhile',
    [
      [0, 'first', 'claim', 'claimed'],
      [-9_999, 'second', 'claim', inProgress],
      [-10_000, 'second', 'claim', 'claimed'],
    ],
  ],
  [
    'I11 never gives away what has begun, nor forgets a reply, when the clock was set back meanwhile',
    [
      [0, 'first', 'claim', 'claimed'],
      [0, 'first', 'begin', 'done'],
      [-60 * minuteMs, 'second', 'claim', 'unknown'],
      [-60 * minuteMs, 'first', 'keep', 'done'],
      [-60 * minuteMs, 'second', 'claim', 'first'],
    ],
  ],
  [
    'I12 keeps the reply of an order with the order, which needs no begin',
    [
      [0, 'first', 'claim', 'claimed'],
      [60, 'first', 'record', 'done'],
      [60, 'second', 'claim', 'first'],
      [60, 'other', 'claim', reused],
      [60, 'first', 'release', 'done'],
      [60, 'first', 'record', inProgress],
      [dayMs - 1, 'second', 'claim', 'first'],
    ],
  ],
  [
    'I13 records no order under a claim that was never made',
    [
      [0, 'first', 'record', inProgress],
      [0, 'second', 'claim', 'claimed'],
    ],
  ],
]

const holds = (index: number): boolean => index % 2 === 0

export const idempotencyContract = (title: string, open: OpenOrderPorts): void => {
  describe(`idempotency keys, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenOrderPorts>>
    let ports: OrderPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    const ordersOf = async (owner: Owner): Promise<number> =>
      (await rightOf(ports.orders.list(owner, someProgram, { page: 1, limit: 1 }, noon))).total

    it.each(scripts)('%s', async (_, steps) => {
      const owner = await storedOwner(ports.operator)
      const first = newClaim()
      const claims = { first, second: newClaim({ key: first.key, requestHash: first.requestHash }), other: newClaim({ key: first.key }) }
      const answers: string[] = []
      for (const [at, who, what] of steps) answers.push(await answerTo(ports, owner, claims[who], who, what, noon + at))
      expect(answers).toStrictEqual(steps.map(([, , , answer]) => answer))
      expect(await ordersOf(owner)).toBe(steps.filter(([, , what, answer]) => what === 'record' && answer === 'done').length)
    })

    it('I14 keeps the keys of each user apart', async () => {
      const claim = newClaim()
      const owners = [await storedOwner(ports.operator), await storedOwner(ports.operator)]
      for (const owner of owners) expect(await rightOf(ports.idempotency.claim(owner, claim, noon))).toStrictEqual({ kind: 'claimed' })
    })

    it('I15 leaves the claim of a refused order without a reply, and frees it when it is released', async () => {
      const owner = await storedOwner(ports.operator)
      await Promise.all(Array.from({ length: maxOpenOrders }, () => rightOf(ports.orders.record(owner, toRecord(newOrder(owner, noon))))))
      const claim = newClaim()
      const again = { ...claim, id: newClaim().id }
      await rightOf(ports.idempotency.claim(owner, claim, noon))
      const keep = { claim, reply: newReply() }
      expect(await ports.orders.record(owner, toRecord(newOrder(owner, noon), { keep }))()).toMatchObject({
        left: { limit: 'open_orders' },
      })
      expect(await ports.idempotency.claim(owner, again, noon)()).toStrictEqual(E.left(idempotencyInProgress))
      await rightOf(ports.idempotency.release(owner, claim))
      expect(await rightOf(ports.idempotency.claim(owner, again, noon))).toStrictEqual({ kind: 'claimed' })
    })

    it('I16 gives each of many orders that come at once a verdict of its own', async () => {
      const owner = await storedOwner(ports.operator)
      const claims = Array.from({ length: 20 }, () => newClaim())
      const replies = claims.map(() => newReply())
      for (const claim of claims.filter((_, index) => holds(index))) await rightOf(ports.idempotency.claim(owner, claim, noon))
      const verdicts = await Promise.all(
        claims.map((claim, index) => {
          const keep = { claim, reply: replies[index] as KeptReply }
          return ports.orders.record(owner, toRecord(newOrder(owner, noon), { keep }))()
        }),
      )
      expect(verdicts.map(E.isRight)).toStrictEqual(claims.map((_, index) => holds(index)))
      expect(verdicts.filter(E.isLeft)).toStrictEqual(Array.from({ length: 10 }, () => E.left(idempotencyInProgress)))
      expect(await ordersOf(owner)).toBe(10)
      const claimedAgain = await Promise.all(claims.map((claim) => rightOf(ports.idempotency.claim(owner, claim, noon + 1))))
      expect(claimedAgain).toStrictEqual(
        replies.map((reply, index): Claimed => (holds(index) ? { kind: 'replied', reply } : { kind: 'claimed' })),
      )
    })

    it('I17 records one order under a claim that many orders come with at once', async () => {
      const owner = await storedOwner(ports.operator)
      const claim = newClaim()
      await rightOf(ports.idempotency.claim(owner, claim, noon))
      const replies = Array.from({ length: 6 }, () => newReply())
      const verdicts = await Promise.all(
        replies.map((reply, index) =>
          (index % 2 ? ports.orders : ports.elsewhere).record(owner, toRecord(newOrder(owner, noon), { keep: { claim, reply } }))(),
        ),
      )
      const recorded = replies.filter((_, index) => E.isRight(verdicts[index] as (typeof verdicts)[number]))
      expect([recorded.length, await ordersOf(owner)]).toStrictEqual([1, 1])
      expect(await rightOf(ports.idempotency.claim(owner, claim, noon))).toStrictEqual({ kind: 'replied', reply: recorded[0] })
    })

    it('I18 lets at most one of many attempts have an effect, wherever they are, however late and wherever they die', async () => {
      const attempts = fc.array(
        fc.record({
          at: fc.integer({ min: 0, max: 60 * secondMs }),
          lateMs: fc.constantFrom(0, 1, 15 * secondMs),
          isElsewhere: fc.boolean(),
          ends: fc.constantFrom('after its claim', 'after it began', 'with a reply', 'with an order'),
        }),
        { minLength: 2, maxLength: 12 },
      )
      await fc.assert(
        fc.asyncProperty(attempts, async (planned) => {
          const owner = await storedOwner(ports.operator)
          const request = newClaim()
          const effects: KeptReply[] = []
          const attempt = async ({ at, lateMs, isElsewhere, ends }: (typeof planned)[number]): Promise<KeptReply | undefined> => {
            const [keys, orders] = isElsewhere ? [ports.idempotencyElsewhere, ports.elsewhere] : [ports.idempotency, ports.orders]
            const claim = { ...request, id: newClaim().id }
            const claimed = await keys.claim(owner, claim, noon + at)()
            if (E.isRight(claimed) && claimed.right.kind === 'replied') return claimed.right.reply
            if (E.isLeft(claimed) || claimed.right.kind === 'unknown' || ends === 'after its claim') return undefined
            const reply = newReply()
            const hasEffect =
              ends === 'with an order'
                ? E.isRight(await orders.record(owner, toRecord(newOrder(owner, noon), { keep: { claim, reply } }))())
                : E.isRight(await keys.begin(owner, claim, noon + at + lateMs)())
            if (hasEffect) effects.push(reply)
            if (ends === 'with a reply') await rightOf(keys.keep(owner, claim, reply))
            return undefined
          }
          const half = Math.ceil(planned.length / 2)
          const replayed = [
            ...(await Promise.all(planned.slice(0, half).map(attempt))),
            ...(await Promise.all(planned.slice(half).map(attempt))),
          ].filter((reply) => reply !== undefined)
          expect(effects.length).toBeLessThanOrEqual(1)
          for (const reply of replayed) expect(effects).toStrictEqual([reply])
        }),
        { numRuns: 25 },
      )
    })
  })
}

const answerTo = async (
  { idempotency, orders }: OrderPorts,
  owner: Owner,
  claim: IdempotencyClaim,
  who: Attempt,
  what: Operation,
  now: number,
): Promise<string> => {
  const reply = newReply({ body: JSON.stringify(who) })
  const operations = {
    claim: idempotency.claim(owner, claim, now),
    begin: idempotency.begin(owner, claim, now),
    keep: idempotency.keep(owner, claim, reply),
    'keep secret': idempotency.keep(owner, claim, { ...reply, isSecret: true }),
    release: idempotency.release(owner, claim),
    record: orders.record(owner, toRecord(newOrder(owner, now), { keep: { claim, reply } })),
  }
  const result: E.Either<{ readonly _tag: string }, unknown> = await operations[what]()
  if (E.isLeft(result)) return result.left._tag
  return what === 'claim' ? shown(result.right as Claimed) : 'done'
}

const shown = (claimed: Claimed): string => {
  if (claimed.kind !== 'replied') return claimed.kind
  const { body, isSecret } = claimed.reply
  return `${String(JSON.parse(body))}${isSecret ? ' secret' : ''}`
}
