// Prices and trading in the console, in a real browser.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { accessibilityFaults, chromiumPath, signIn, useBrowser } from './support/browser.ts'
import { brokerOf, everyScope, keyOf, linkDocument, newAccountUuid } from './support/desk.ts'
import { useTestService } from './support/service.ts'

const first = newAccountUuid(1)

describe.skipIf(chromiumPath === undefined)('trading in the console', () => {
  const browser = useBrowser()
  const service = useTestService([{ id: 'first', login: '1', startBalance: 10_000 }], {
    environment: { CAPABILITIES: 'all' },
  })
  const accounts = [{ id: first, name: 'First', providerAccountId: 'first' }]
  beforeAll(async () => {
    await service.setUp(
      linkDocument({ user: 'trader', accounts }),
      linkDocument({
        user: 'reader',
        scopes: everyScope.filter((scope) => !/:write|market-data/.test(scope)),
        accounts: [{ ...accounts[0], id: newAccountUuid(2), providerAccountId: 'first' }],
      }),
    )
  })
  const broker = () => brokerOf(service.sandbox, 'first')
  const opened = async (path: string, user = 'trader', options = {}): Promise<Page> => {
    const page = await browser.open(`${service.apiUrl}${path}`, options)
    await signIn(page, keyOf(user))
    return page
  }

  it('draws the prices around a trade, or says why there are none', async () => {
    const ticket = broker().open({ stopLoss: 1, takeProfit: 1.5 })
    broker().trade({ actionType: 'POSITION_CLOSE_ID', positionId: ticket })
    const page = await opened(`/console/trades/${first}:${ticket}`)
    await page.locator('.price-chart canvas').first().waitFor()
    await page.getByText('The stop and the target are those that it was opened with').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    service.sandbox.faults.set('first', 'candles', { kind: 'unavailable' })
    onTestFinished(() => service.sandbox.faults.clear())
    await page.reload()
    await signIn(page, keyOf('trader'))
    const prices = page.getByRole('region', { name: 'Prices around it' })
    await prices.getByRole('alert').waitFor()
    const unpriced = await opened(`/console/trades/${newAccountUuid(2)}:${ticket}`, 'reader')
    await unpriced.getByText('it needs the scope market-data:read').waitFor()
  })
})
