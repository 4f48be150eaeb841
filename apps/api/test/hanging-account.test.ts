// An account whose broker never answers delays only its own orders: those of other tenants are filled while it hangs.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, openDesk, sends } from './support/order-desk.ts'
import type { OrderDesk } from './support/order-desk.ts'
import { startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const names = ['hanging', 'other'] as const
const keyOf = (name: string): string => `tp_live_only_for_automated_tests_${name}_account`
const tokenOf = (name: string): string => `provider-token-of-${name}`
const idOf = (name: (typeof names)[number]): string => newAccountUuid(1 + names.indexOf(name))

let service: RunningService
beforeAll(async () => {
  service = await startTestService(
    names.map((name) => ({ id: name })),
    { providerTokens: names.map(tokenOf) },
  )
  await service.setUp(
    ...names.map((name) => {
      const user = { tenant: name, user: name, key: keyOf(name), providerToken: tokenOf(name) }
      return linkDocument(user, [{ id: idOf(name), providerAccountId: name }], ['trading:read', 'trading:write'])
    }),
  )
})
afterAll(() => service?.close())

const deskOf = (name: (typeof names)[number]): OrderDesk =>
  openDesk(service, { key: keyOf(name), accountId: idOf(name), order: { volume: 0.01 } })
const ordersOf = async (name: (typeof names)[number]): Promise<readonly Json[]> => (await deskOf(name).get('/orders?limit=50')).body.data
const isPending = ({ status }: Json): boolean => status === 'pending'

it('fills the orders of another tenant while fifty orders of one account hang', async () => {
  service.sandbox.faults.set('hanging', 'any', { kind: 'lost' })
  const hanging = await Promise.all(Array.from({ length: 50 }, () => deskOf('hanging').place()))
  const filled = await Promise.all(Array.from({ length: 6 }, () => deskOf('other').placeAndSettle()))
  expect(filled.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'filled'))
  const statuses = await Promise.all(hanging.map(async ({ id }) => (await deskOf('hanging').find(id)).status))
  expect(new Set(statuses)).toEqual(new Set(['pending']))
  expect(sends(service, 'hanging')).toBeLessThanOrEqual(2)
})

it('rejects at 30 seconds what could not be sent to the account that hangs, and sends none of it', async () => {
  // Up to two stay pending: one that was sent, or that another instance took over and has to look for first, which the account does not answer.
  const ends = await eventually(
    () => ordersOf('hanging'),
    (found) => found.filter(isPending).length <= 2,
  )
  const ended = ends.filter((order) => !isPending(order))
  expect(ended.length).toBeGreaterThanOrEqual(48)
  for (const { status, rejectReason, createdAt, updatedAt } of ended) {
    expect([status, rejectReason?.code]).toEqual(['rejected', 'BROKER_UNAVAILABLE'])
    expect(Date.parse(updatedAt) - Date.parse(createdAt)).toBeGreaterThan(25_000)
  }
  expect(sends(service, 'hanging')).toBeLessThanOrEqual(2)
})
