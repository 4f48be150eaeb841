import { describe, expect, it } from 'vitest'
import { backAfterMs, checkIntents, checkReplies, countOutcomes, within } from '../src/load-check.ts'
import type { Intent, IntentAnswer, Reply } from '../src/load-check.ts'

const reply: Reply = { what: 'order', slot: 0, beganAt: 100, endedAt: 150, status: 201, code: null }
const unavailable = { status: 503, code: 'SERVICE_UNAVAILABLE' }

describe('checkReplies', () => {
  const allowed = { order: ['201', '503 SERVICE_UNAVAILABLE'], '*': ['200'] }

  it('keeps quiet about what may be told', () => {
    expect(checkReplies([reply, { ...reply, ...unavailable }, { ...reply, what: 'orders', status: 200 }], allowed)).toEqual([])
  })

  it.each([
    ['a status that is never to be seen', { ...reply, status: 500, code: 'INTERNAL_ERROR' }],
    ['another code', { ...reply, status: 503, code: 'BROKER_UNAVAILABLE' }],
    ['no answer', { ...reply, status: null }],
    ['what only another kind may be told', { ...reply, what: 'symbols', ...unavailable }],
  ])('tells %s, once for all of its kind', (_, other) => {
    expect(checkReplies([reply, other, other], allowed)).toEqual([expect.stringContaining('2 times')])
  })
})

describe('countOutcomes', () => {
  it('counts by kind, the most frequent first', () => {
    const counts = countOutcomes([{ ...reply, ...unavailable }, reply, reply, { ...reply, what: 'orders', status: null }])
    expect([...counts].map(([what, own]) => [what, [...own]])).toEqual([
      [
        'order',
        [
          ['201', 2],
          ['503 SERVICE_UNAVAILABLE', 1],
        ],
      ],
      ['orders', [['no answer', 1]]],
    ])
  })
})

describe('checkIntents', () => {
  const refused: IntentAnswer = { ...unavailable, orderId: null, isUnsure: false }
  const placed: IntentAnswer = { status: 201, code: null, orderId: 'ord_a', isUnsure: false }
  const intent: Intent = { id: 'a', isKeyed: true, answers: [refused, placed] }
  const order = { id: 'ord_a', clientId: 'a' }
  const once: Intent = { id: 'a', isKeyed: false, answers: [refused] }

  it.each([
    ['an order that was placed in the end', [intent], [order]],
    ['an order that was refused once and for all', [once], []],
    ['an order that may stand, and does', [{ ...once, answers: [{ ...refused, isUnsure: true }] }], [order]],
    ['an order that may stand, and does not', [{ ...once, answers: [{ ...refused, isUnsure: true }] }], []],
    ['an order that was recorded, whose caller heard nothing', [{ ...once, answers: [{ ...refused, status: null, code: null }] }], [order]],
    ['an order that was never sent', [{ ...once, answers: [] }], []],
  ])('keeps quiet about %s', (_, intents, orders) => {
    expect(checkIntents(intents, orders)).toEqual([])
  })

  it.each([
    ['an order that is gone', [intent], []],
    ['an order that is another', [intent], [{ ...order, id: 'ord_b' }]],
    ['two orders of one intent', [intent], [order, { ...order, id: 'ord_b' }]],
    ['two answers to one intent', [{ ...intent, answers: [placed, { ...placed, orderId: 'ord_b' }] }], [order]],
    ['an order that was refused for certain, and stands', [once], [order]],
    ['a key that never got an answer', [{ ...intent, answers: [refused] }], []],
  ])('tells %s', (_, intents, orders) => {
    expect(checkIntents(intents, orders)).toHaveLength(1)
  })
})

describe('backAfterMs', () => {
  const wanted = { what: 'order', slot: 0, outcome: '201' }

  it('counts to the end of the first good answer that was asked for afterwards', () => {
    const replies = [reply, { ...reply, beganAt: 210, endedAt: 260 }, { ...reply, beganAt: 220, endedAt: 240 }]
    expect(backAfterMs(replies, 200, wanted)).toBe(40)
  })

  it('takes no answer of another instance, kind, outcome or time for it', () => {
    const late = { ...reply, beganAt: 210, endedAt: 260 }
    expect(backAfterMs([reply, { ...late, slot: 1 }, { ...late, what: 'orders' }, { ...late, ...unavailable }], 200, wanted)).toBeNull()
  })
})

describe('within', () => {
  it('takes what lies in a span from beginning to end', () => {
    const spans = [
      { from: 0, to: 120 },
      { from: 90, to: 160 },
    ]
    expect(within([reply, { ...reply, endedAt: 170 }], spans)).toEqual([reply])
  })
})
