// How every OrderStore keeps idempotency keys, numbered (decision 25).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { idempotencyInProgress, idempotencyKeyReused } from '../errors.ts'
import { maxOpenOrders } from '../orders/limits.ts'
import { dayMs, minuteMs } from '../primitives/instant.ts'
import { newClaim, newOrder, someProgram, placementOf, toRecord } from './stored-orders.ts'
import type { PlacementStep } from '../orders/placement.ts'
import type { OpenOrderPorts, OrderPorts } from './stored-orders.ts'
import { newHash, rightOf, storedOwner } from './stored-records.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const leaseMs = 10_000
const filled: PlacementStep = { placement: { step: 'settled' }, outcome: { kind: 'filled', fill: { price: 1.1 } }, continueInMs: null }

export const idempotencyContract = (title: string, open: OpenOrderPorts): void => {
  describe(`idempotency keys, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenOrderPorts>>
    let ports: OrderPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    it('I1 gives a key to one of many requests, wherever they are, and tells the others that it is in progress', async () => {
      const owner = await storedOwner(ports.operator)
      const claim = newClaim()
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? ports.orders : ports.elsewhere).claim(owner, claim, noon)()),
      )
      expect(results.filter(E.isRight)).toStrictEqual([E.right(O.none)])
      expect(results.filter(E.isLeft)).toStrictEqual(Array.from({ length: 19 }, () => E.left(idempotencyInProgress)))
    })

    it('I2 answers with the order as it was first answered, whatever became of it', async () => {
      const owner = await storedOwner(ports.operator)
      const claim = newClaim()
      const order = newOrder(owner, noon, { comment: 'first' })
      await rightOf(ports.orders.claim(owner, claim, noon))
      expect(await rightOf(ports.orders.record(owner, toRecord(order, { claim })))).toStrictEqual(order)
      expect(await rightOf(ports.elsewhere.claim(owner, claim, noon + 1))).toStrictEqual(O.some(order))
      await rightOf(ports.orders.advance(owner, placementOf(order), filled, noon + 5))
      expect(await rightOf(ports.orders.claim(owner, claim, noon + 9))).toStrictEqual(O.some(order))
    })

    it('I3 refuses a key with another body, in progress or done', async () => {
      const owner = await storedOwner(ports.operator)
      const claim = newClaim()
      const other = newClaim({ key: claim.key })
      await rightOf(ports.orders.claim(owner, claim, noon))
      expect(await ports.orders.claim(owner, other, noon)()).toStrictEqual(E.left(idempotencyKeyReused))
      await rightOf(ports.orders.record(owner, toRecord(newOrder(owner, noon), { claim })))
      expect(await ports.orders.claim(owner, other, noon)()).toStrictEqual(E.left(idempotencyKeyReused))
    })

    it('I4 keeps the keys of each user apart', async () => {
      const claim = newClaim()
      const owners = [await storedOwner(ports.operator), await storedOwner(ports.operator)]
      for (const owner of owners) expect(await rightOf(ports.orders.claim(owner, claim, noon))).toStrictEqual(O.none)
    })

    it('I5 gives a released key to the next, whatever its body, and never releases what made an order or is another’s', async () => {
      const owner = await storedOwner(ports.operator)
      const claim = newClaim()
      await rightOf(ports.orders.claim(owner, claim, noon))
      await rightOf(ports.orders.release(owner, { ...claim, bodyHash: newHash() }))
      expect(await ports.orders.claim(owner, claim, noon)()).toStrictEqual(E.left(idempotencyInProgress))
      await rightOf(ports.orders.release(owner, claim))
      const next = newClaim({ key: claim.key })
      expect(await rightOf(ports.orders.claim(owner, next, noon))).toStrictEqual(O.none)
      const order = await rightOf(ports.orders.record(owner, toRecord(newOrder(owner, noon), { claim: next })))
      await rightOf(ports.orders.release(owner, next))
      expect(await rightOf(ports.orders.claim(owner, next, noon))).toStrictEqual(O.some(order))
    })

    it('I6 lets a claim without an order lapse after ten seconds, and every key after 24 hours', async () => {
      const owner = await storedOwner(ports.operator)
      const claim = newClaim()
      await rightOf(ports.orders.claim(owner, claim, noon))
      expect(await ports.orders.claim(owner, claim, noon + leaseMs - 1)()).toStrictEqual(E.left(idempotencyInProgress))
      expect(await rightOf(ports.orders.claim(owner, claim, noon + leaseMs))).toStrictEqual(O.none)
      const claimed = noon + leaseMs
      const order = await rightOf(ports.orders.record(owner, toRecord(newOrder(owner, claimed), { claim })))
      expect(await rightOf(ports.orders.claim(owner, claim, claimed + dayMs - 1))).toStrictEqual(O.some(order))
      expect(await rightOf(ports.orders.claim(owner, newClaim({ key: claim.key }), claimed + dayMs))).toStrictEqual(O.none)
    })

    it('I10 takes a claim without an order for lapsed when the clock was set back meanwhile, and keeps what made an order', async () => {
      const owner = await storedOwner(ports.operator)
      const [claim, kept] = [newClaim(), newClaim()]
      await rightOf(ports.orders.claim(owner, claim, noon))
      const order = await rightOf(ports.orders.record(owner, toRecord(newOrder(owner, noon), { claim: kept })))
      const before = noon - 60 * minuteMs
      expect(await rightOf(ports.orders.claim(owner, claim, before))).toStrictEqual(O.none)
      expect(await rightOf(ports.orders.claim(owner, kept, before))).toStrictEqual(O.some(order))
    })

    it('I7 makes one order of a key when two requests hold the lapsed claim, and both get it', async () => {
      const owner = await storedOwner(ports.operator)
      const claim = newClaim()
      await rightOf(ports.orders.claim(owner, claim, noon))
      await rightOf(ports.elsewhere.claim(owner, claim, noon + leaseMs))
      const results = await Promise.all(
        [ports.orders, ports.elsewhere, ports.orders].map((store) =>
          rightOf(store.record(owner, toRecord(newOrder(owner, noon + minuteMs), { claim }))),
        ),
      )
      expect(new Set(results.map(({ id }) => id)).size).toBe(1)
      expect((await rightOf(ports.orders.list(owner, someProgram, { page: 1, limit: 9 }, noon))).total).toBe(1)
    })

    it('I8 refuses the order of a lapsed claim whose key another body has taken', async () => {
      const owner = await storedOwner(ports.operator)
      const claim = newClaim()
      await rightOf(ports.orders.claim(owner, claim, noon))
      await rightOf(ports.orders.claim(owner, newClaim({ key: claim.key }), noon + minuteMs))
      expect(await ports.orders.record(owner, toRecord(newOrder(owner, noon), { claim }))()).toStrictEqual(E.left(idempotencyKeyReused))
      expect((await rightOf(ports.orders.list(owner, someProgram, { page: 1, limit: 9 }, noon))).total).toBe(0)
    })

    it('I9 keeps no key of an order that the limits refused', async () => {
      const owner = await storedOwner(ports.operator)
      await Promise.all(Array.from({ length: maxOpenOrders }, () => rightOf(ports.orders.record(owner, toRecord(newOrder(owner, noon))))))
      const claim = newClaim()
      await rightOf(ports.orders.claim(owner, claim, noon))
      expect(await ports.orders.record(owner, toRecord(newOrder(owner, noon), { claim }))()).toMatchObject({
        left: { limit: 'open_orders' },
      })
      await rightOf(ports.orders.release(owner, claim))
      expect(await rightOf(ports.orders.claim(owner, claim, noon))).toStrictEqual(O.none)
    })
  })
}
