import { describe, expect, it } from 'vitest'
import { checkDeliveries, checkEvents, nameOf } from '../src/event-check.ts'
import type { LoggedDelivery, ReceivedDelivery, RecordedEvent } from '../src/event-check.ts'

const event = (sequence: number, type: string, data: object): RecordedEvent => ({ sequence, userId: 'u', type, data: { ...data } })
const events = [
  event(1, 'order.created', { order_id: 'o' }),
  event(2, 'order.filled', { order_id: 'o', position_id: 'p' }),
  event(3, 'position.closed', { position_id: 'p', closed_volume: 0.1, exit_price: 1.2, realized_pnl: 3 }),
  event(4, 'trade.closed', { trade_id: 't', position_id: 'p' }),
]
const happened = { userId: 'u', names: events.map(({ type, data }) => nameOf(type, data)) }

describe('checkEvents', () => {
  it('keeps quiet when what happened is what was recorded', () => {
    expect(checkEvents([happened], events)).toEqual([])
  })

  const repriced = events.map((one) => (one.sequence === 3 ? { ...one, data: { ...one.data, exit_price: null } } : one))
  it.each([
    ['an event that is lost', 1, happened, events.slice(0, 3)],
    ['an event of something that did not happen', 1, { ...happened, names: happened.names.slice(1) }, events],
    ['a close that is recorded twice', 1, happened, [...events, event(5, 'position.closed', events[2]?.data ?? {})]],
    ['an event of somebody else', 1, happened, events.map((one, index) => (index === 0 ? { ...one, userId: 'v' } : one))],
    ['a close with another price', 2, happened, repriced],
  ])('reports %s', (_, count, truth, recorded) => {
    expect(checkEvents([truth], recorded)).toHaveLength(count)
  })
})

const failed = (attempts: readonly number[]): readonly LoggedDelivery[] =>
  attempts.map((count, index) => ({ id: `f${index}`, webhookId: 'f', sequence: index + 1, status: 'failed', attempts: count }))
const change = <A>(all: readonly A[], index: number, fields: object): readonly A[] =>
  all.map((one, place) => (place === index ? { ...one, ...fields } : one))

describe('checkDeliveries', () => {
  const fine = { id: 'w', userId: 'u', isFailing: false }
  const failing = { id: 'f', userId: 'u', isFailing: true }
  const logged: readonly LoggedDelivery[] = events.map(({ sequence }) => ({
    id: `d${sequence}`,
    webhookId: 'w',
    sequence,
    status: 'success',
    attempts: 1,
  }))
  const received: readonly ReceivedDelivery[] = events.map(({ sequence, type, data }) => ({
    deliveryId: `d${sequence}`,
    webhookId: 'w',
    isGenuine: true,
    event: type,
    data: { ...data },
  }))

  it('keeps quiet when everything came, also where it came twice', () => {
    expect(checkDeliveries([fine], events, logged, received)).toEqual([])
    expect(checkDeliveries([fine], events, logged, [...received.slice(0, 2), ...received.slice(1)])).toEqual([])
    expect(checkDeliveries([failing], events, failed([3, 1, 1, 0]), [])).toEqual([])
  })

  it.each([
    ['an event that made no delivery', logged.slice(1), received.slice(1)],
    ['an event that made two', [...logged, { ...logged[0], id: 'd9' } as LoggedDelivery], received],
    ['an event that never came', logged, received.slice(1)],
    ['one that came and is logged as waiting', change(logged, 3, { status: 'pending' }), received],
    ['one whose signature is wrong', logged, change(received, 2, { isGenuine: false })],
    ['one that nobody logged', logged, [...received, { ...received[0], deliveryId: 'x' } as ReceivedDelivery]],
    ['one that holds something else', logged, change(received, 0, { data: { order_id: 'other' } })],
    ['one that came too early', logged, [received[1], received[0], received[2], received[3]] as readonly ReceivedDelivery[]],
  ])('tells %s', (_, log, came) => {
    expect(checkDeliveries([fine], events, log, came)).toHaveLength(1)
  })

  it.each([
    ['more attempts than five', failed([5, 1])],
    ['fewer attempts than five', failed([3, 1])],
    ['one that is still to be sent', change(failed([5, 0]), 1, { status: 'pending' })],
  ])('tells of a receiver that fails always %s', (_, log) => {
    expect(checkDeliveries([failing], events, log, [])).toHaveLength(1)
  })
})
