// An account whose broker never answers delays only its own orders: those of other tenants are
// filled while it hangs.
import { expect, it } from 'vitest'
import { linkDesk } from './support/desk.ts'
import { startTestService } from './support/service.ts'

it('orders of another tenant are filled while fifty orders of one account hang, of which at most two are sent', async () => {
  const tokens = ['token-of-hanging', 'token-of-other']
  const service = await startTestService([], { providerTokens: tokens })
  const [hanging, other] = await Promise.all(
    tokens.map((token, n) =>
      linkDesk(service, {
        user: `u-${n}`,
        tenant: `t-${n}`,
        providerToken: token,
        order: { volume: 0.01 },
      }),
    ),
  )
  if (hanging === undefined || other === undefined) return expect.fail()
  hanging.fail('any', { kind: 'lost' })
  const orders = await Promise.all(Array.from({ length: 50 }, () => hanging.place()))
  const filled = await Promise.all(Array.from({ length: 6 }, () => other.placeAndSettle()))
  expect(new Set(filled.map(({ status }) => status))).toEqual(new Set(['filled']))
  const found = await Promise.all(orders.map(({ id }) => hanging.find(id)))
  expect(new Set(found.map(({ status }) => status))).toEqual(new Set(['pending']))
  expect(hanging.broker.sends()).toBeLessThanOrEqual(2)
  await service.close()
})
