// Prices and trading in the console, in a real browser.
import type { Page, Route } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { accessibilityFaults, chromiumPath, signInAs, useBrowser } from './support/browser.ts'
import { brokerOf, everyScope, linkDocument, newAccountUuid } from './support/desk.ts'
import { useTestService } from './support/service.ts'

const first = newAccountUuid(1)

const confirm = async (page: Page, sentence: string | RegExp): Promise<void> => {
  const dialog = page.getByRole('dialog')
  await dialog.locator('p').filter({ hasText: sentence }).first().waitFor()
  await dialog.locator('button.primary').click()
}
const sent = (page: Page, words: string | RegExp) =>
  page.getByRole('region', { name: 'What you sent' }).getByRole('listitem').filter({
    hasText: words,
  })
const list = (page: Page, name: string) => page.getByRole('group', { name })

describe.skipIf(chromiumPath === undefined)('trading in the console', () => {
  const browser = useBrowser()
  const service = useTestService([{ id: 'first', login: '1', startBalance: 10_000 }], {
    now: browser.now,
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
      linkDocument({
        user: 'orderer',
        scopes: ['accounts:read', 'market-data:read', 'trading:read', 'orders:write'],
        accounts: [{ ...accounts[0], id: newAccountUuid(3), providerAccountId: 'first' }],
      }),
    )
  })
  const broker = () => brokerOf(service.sandbox, 'first')
  const opened = (path: string, user = 'trader', options = {}): Promise<Page> =>
    browser.open(`${service.apiUrl}${path}`, { ...options, user })

  it('draws the prices around a trade, or says why there are none', async () => {
    const ticket = broker().open({ stopLoss: 1, takeProfit: 1.5 })
    broker().trade({ actionType: 'POSITION_CLOSE_ID', positionId: ticket })
    const page = await opened(`/console/trades/${first}:${ticket}`)
    await page.locator('.price-chart canvas').first().waitFor()
    await page.getByText('The stop and the target are those that it was opened with').waitFor()
    await page.getByText("add up to the broker's balance").waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    service.sandbox.faults.set('first', 'candles', { kind: 'unavailable' })
    onTestFinished(() => service.sandbox.faults.clear())
    await page.reload()
    await signInAs(page, 'trader')
    const prices = page.getByRole('region', { name: 'Prices around it' })
    await prices.getByRole('alert').waitFor()
    await page.route(/price-chart/, (route) => route.abort())
    service.sandbox.faults.clear()
    await page.reload()
    await signInAs(page, 'trader')
    await prices.getByText('A part of the page cannot be loaded.').waitFor()
    const unpriced = await opened(`/console/trades/${newAccountUuid(2)}:${ticket}`, 'reader')
    await unpriced.getByText('it needs the scope market-data:read').waitFor()
    await unpriced.getByRole('link', { name: 'Trading', exact: true }).click()
    await unpriced.getByText('it needs the scope trading:write or orders:write').waitFor()
    expect(await unpriced.getByRole('button', { name: 'Buy' }).count()).toBe(0)
    // Beside a ticket are the prices of its symbol, also where the address has a position.
    broker().open({ symbol: 'GBPUSD' })
    const held = encodeURIComponent(`${newAccountUuid(3)}:${broker().held()[0]?.ticket ?? ''}`)
    const orderer = await opened(
      `/console/trading?account=${newAccountUuid(3)}&position=${held}`,
      'orderer',
    )
    await list(orderer, 'Open positions').getByText('GBPUSD').waitFor()
    await orderer.getByRole('region', { name: 'Prices of EURUSD' }).waitFor()
    // A key that may not lift a halt sees it.
    await orderer.route('**/halt', async (route) => {
      const { data, ...reply } = await (await route.fetch()).json()
      await route.fulfill({ json: { ...reply, data: { ...data, by: 'owner' } } })
    })
    await browser.pass(orderer, 10_000)
    await orderer.getByText('The account is halted by its owner').waitFor()
    expect(await orderer.getByRole('button', { name: 'Lift the halt' }).count()).toBe(0)
    broker().trade({
      actionType: 'POSITION_CLOSE_ID',
      positionId: broker().held()[0]?.ticket ?? '',
    })
  })

  it('shows the positions also where they take longer to read than the pause between reads', async () => {
    const page = await browser.open(`${service.apiUrl}/console/trading?position=gone`)
    const held: Route[] = []
    await page.route(/\/positions\?/, (route) => void held.push(route))
    await signInAs(page, 'trader')
    await expect.poll(() => held.length).toBe(1)
    await browser.pass(page, 7_000)
    const gone = page.getByText('The position is not among the open ones')
    expect(await gone.count()).toBe(0)
    for (const route of held) await route.continue()
    const positions = page.getByRole('region', { name: 'Open positions' })
    await positions.getByText('No position is open.').waitFor()
    await gone.waitFor()
    await page.route(/\/positions\?/, (route) => route.abort())
    await browser.pass(page, 7_000)
    await positions.getByText('What is shown was read').waitFor()
    expect(await gone.count()).toBe(0)
    const other = await opened('/console/trading?account=other')
    await other.getByText('No account with the id "other" is linked').waitFor()
  })

  it('previews an order as it is typed, places it, changes its levels and closes it in parts', async () => {
    const page = await opened('/console/trading')
    await page.getByText(/checks pass/).waitFor()
    // What cannot be checked does not keep the outcome of other terms.
    await page.route(/preview/, (route) => route.abort())
    await page.getByLabel('Lots').fill('0.2')
    await page.getByText('The service does not answer.').waitFor()
    expect(await page.getByText(/checks pass/).count()).toBe(0)
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByLabel('Lots').fill('0.10')
    await page.getByText(/checks pass/).waitFor()
    await page.getByLabel('Stop loss', { exact: true }).fill('9')
    await page.getByText(/stopLoss must be .* below the price .* got 9/).waitFor()
    const buy = page.getByRole('button', { name: 'Buy 0.10 EURUSD' })
    expect(await buy.isDisabled()).toBe(true)
    await page.getByLabel('Stop loss', { exact: true }).fill('1.0000')
    await page.getByText(/checks pass/).waitFor()
    await buy.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Loss at the stop').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(broker().held()).toEqual([])
    expect(await buy.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true)
    await buy.click()
    await confirm(page, 'Buy 0.10 EURUSD at market on First, stop 1.00000, no target.')
    await sent(page, 'Buy 0.10').getByText('Filled 0.10 of 0.10').waitFor()
    await list(page, 'Open positions').getByRole('link', { name: 'EURUSD' }).click()

    // What was typed stays where it is refused.
    const field = page.getByLabel('Stop loss', { exact: true })
    await field.fill('9')
    await page.getByRole('button', { name: 'Change the levels' }).click()
    await confirm(page, /stop loss from 1.00000 to 9.00000/)
    await sent(page, 'Change the buy position').getByText('Not done').waitFor()
    expect(await field.inputValue()).toBe('9')
    await field.fill('1.0000')
    const stop = page.getByRole('slider', { name: 'Stop loss on the chart' })
    await stop.press('PageUp')
    expect(await page.getByLabel('Stop loss', { exact: true }).inputValue()).toBe('1.00100')
    const entry = Number(broker().positions()[0]?.openPrice)
    await page.getByLabel('Take profit', { exact: true }).fill((entry + 0.001).toFixed(5))
    const line = await page.getByRole('slider', { name: 'Take profit' }).boundingBox()
    const { x = 0, y = 0 } = line ?? {}
    await page.mouse.move(x + 300, y + 12)
    await page.mouse.down()
    await page.mouse.move(x + 300, y - 20, { steps: 4 })
    await page.mouse.up()
    const dragged = Number(await page.getByLabel('Take profit', { exact: true }).inputValue())
    const held: Route[] = []
    await page.route(/\/levels$/, (route) => void held.push(route))
    await page.getByRole('button', { name: 'Change the levels' }).click()
    await confirm(page, /stop loss from 1.00000 to 1.00100, take profit set to/)
    await expect.poll(() => held.length).toBe(1)
    // What is typed meanwhile stays.
    await page.getByLabel('Lots to close').fill('0,04')
    // What was changed is read at once: the time does not pass to the next regular read.
    await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 10_000)
    await held[0]?.continue()
    await sent(page, 'Change the buy position').getByText('Changed.').waitFor()
    await page.clock.runFor(100)
    await list(page, 'Open positions').getByText('1.00100').waitFor()
    await page.clock.resume()
    expect(broker().held()).toMatchObject([{ stopLoss: 1.001, takeProfit: dragged }])

    await page.getByRole('button', { name: 'Close 0,04' }).click()
    await confirm(
      page,
      /^Close 0.04 of the buy position of 0.10 EURUSD, number \d+, on First at market; 0.06 stay/,
    )
    await sent(page, 'Close 0.04').getByText('0.06 stay open').waitFor()
    broker().open()
    await browser.pass(page, 5_000)
    const positions = list(page, 'Open positions')
    await positions.getByRole('row').nth(2).waitFor()
    await page.getByRole('heading', { name: 'EURUSD buy 0.06' }).waitFor()
    await positions.getByLabel('Select all positions').check()
    await page.getByRole('button', { name: 'Close selected (2)' }).click()
    await dialog.getByText('Close the buy position of 0.06').waitFor()
    // A sentence that is not true any more cannot be confirmed.
    broker().trade({
      actionType: 'POSITION_PARTIAL',
      positionId: broker().held()[0]?.ticket ?? '',
      volume: 0.01,
    })
    await browser.pass(page, 5_000)
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Close selected (2)' }).click()
    await confirm(page, /^Close the buy position of 0.40 EURUSD, number \d+, on First at market\.$/)
    await sent(page, 'Close the buy position').getByText('Closed').nth(1).waitFor()
    await page.getByText('No position is open.').waitFor()
  })

  it('holds a pending order, changes and cancels it, and halts the account, on a small dark screen', async () => {
    const page = await opened('/console/trading', 'trader', {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
    })
    await page.getByRole('radio', { name: 'Limit', exact: true }).check()
    await page.getByLabel('Limit price').fill('1')
    await page.getByText(/checks pass/).waitFor()
    await page.getByRole('button', { name: 'Buy 0.10 EURUSD' }).click()
    await confirm(page, /^Buy 0.10 EURUSD at \S+ or better on First, no stop, no target, until it/)
    await sent(page, 'or better').getByText('The broker holds it as number').waitFor()
    // An order that becomes open between two reads is in both, and shown once.
    await page.route(/orders\?.*status=pending/, async (route) => {
      const url = route.request().url().replace('status=pending', 'status=open')
      await route.fulfill({ response: await route.fetch({ url }) })
    })
    await Promise.all([
      page.waitForResponse(/orders\?.*status=pending/),
      page.waitForResponse(/orders\?.*status=open/),
      browser.pass(page, 10_000),
    ])
    await list(page, 'Working orders').getByRole('link', { name: 'EURUSD' }).click()
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByRole('slider', { name: 'Price on the chart' }).press('ArrowDown')
    const price = String(Number(await page.getByLabel('Price', { exact: true }).inputValue()))
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await page.getByRole('button', { name: 'Change the order' }).click()
    await confirm(page, /^Change the order to buy .*: price from \S+ to \S+\.$/)
    await sent(page, 'Change the order').getByText('Changed.').waitFor()
    // Else its sentence would change once the new price is read.
    await list(page, 'Working orders').getByText(price).waitFor()
    await page.getByRole('button', { name: 'Cancel the order' }).click()
    await confirm(page, /^Cancel the order to buy 0.10 EURUSD/)
    await sent(page, 'Cancel the order').getByText('It was cancelled').waitFor()

    await browser.pass(page, 10_000)
    await page.getByText('The order is not among the open ones').waitFor()
    await page.getByRole('button', { name: 'New order' }).click()
    await page.getByLabel('Reason').fill('news')
    await page.getByRole('button', { name: 'Halt the account' }).click()
    await Promise.all([
      page.waitForResponse(/halt/),
      confirm(page, 'Halt First: it accepts no orders until the halt is lifted.'),
    ])
    await browser.pass(page, 10_000)
    await page.getByText('The account is halted by its owner').first().waitFor()
    await page.getByText(/It would be refused/).waitFor()
    await page.getByRole('button', { name: 'Lift the halt' }).click()
    await confirm(page, 'Lift the halt of First: it accepts orders again.')
    await page.getByRole('button', { name: 'Halt the account' }).waitFor()
  })

  it('shows what may have been done as unknown, and as done only once that is known', async () => {
    const page = await opened('/console/trading')
    const before = broker().sends()
    // The service has it, and no answer comes back to the page.
    await page.route('**/api/v1/orders?wait=*', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.getByText(/checks pass/).waitFor()
    await page.getByRole('button', { name: 'Buy 0.10 EURUSD' }).click()
    await confirm(page, /^Buy 0.10/)
    await sent(page, 'Buy 0.10').getByText('It may have been done.').waitFor()
    await sent(page, 'Buy 0.10').getByText('Filled').waitFor()
    expect(broker().sends() - before).toBe(1)

    // Signing out ends no write, and says which outcomes are not known.
    const unanswered: Route[] = []
    await page.route('**/api/v1/orders?wait=*', (route) => void unanswered.push(route))
    await page.getByRole('button', { name: 'Buy 0.10 EURUSD' }).click()
    await confirm(page, /^Buy 0.10/)
    await page.getByRole('button', { name: 'Buy 0.10 EURUSD' }).click()
    await page.getByText('You have already sent this').waitFor()
    await page.getByRole('button', { name: 'Do not send' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('The outcome of 1 write is not known').waitFor()
    // What its key is answered later does not sign out whoever has signed in since.
    await signInAs(page, 'trader')
    await page.getByText(/checks pass/).waitFor()
    await Promise.all([
      page.waitForResponse(/orders\?wait=/),
      unanswered[0]?.fulfill({ status: 401 }),
    ])
    await page.getByRole('link', { name: 'Events', exact: true }).click()
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor()
  })
})
