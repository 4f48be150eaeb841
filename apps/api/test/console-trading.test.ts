// Prices and trading in the console, in a real browser.
import type { Page, Route } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  accessibilityFaults,
  chromiumPath,
  follow,
  overflowOf,
  press,
  shows,
  signInAs,
  useBrowser,
  button,
  heading,
  region,
  lacks,
} from './support/browser.ts'
import { brokerOf, everyScope, linkDocument, newAccountUuid } from './support/desk.ts'
import { useTestService } from './support/service.ts'

const first = newAccountUuid(1)

const confirm = async (page: Page, sentence: string | RegExp) => {
  const dialog = page.getByRole('dialog')
  await dialog.locator('p').filter({ hasText: sentence }).first().waitFor()
  await dialog.locator('button.primary').click()
}
/** Presses what sends something, and confirms it. */
const send = async (page: Page, name: string, sentence: string | RegExp) => {
  await press(page, name)
  await confirm(page, sentence)
}
const sent = (page: Page, words: string | RegExp) =>
  region(page, 'What you sent').getByRole('listitem').filter({
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
  const opened = (path: string, user = 'trader', options = {}) =>
    browser.open(`${service.apiUrl}${path}`, { ...options, user })

  it('draws the prices around a trade, or says why there are none', async () => {
    const ticket = broker().open({ stopLoss: 1, takeProfit: 1.5 })
    broker().close(ticket)
    const page = await opened(`/console/trades/${first}:${ticket}`)
    await page.locator('.price-chart canvas').first().waitFor()
    await shows(
      page,
      'Stop loss and take profit are those that it was opened with',
      "add up to the broker's balance",
    )
    service.sandbox.faults.set('first', 'candles', { kind: 'unavailable' })
    onTestFinished(() => service.sandbox.faults.clear())
    await page.reload()
    await signInAs(page, 'trader')
    const prices = region(page, 'Prices around it')
    await prices.getByRole('alert').waitFor()
    await page.route(/price-chart/, (route) => route.abort())
    service.sandbox.faults.clear()
    await page.reload()
    await signInAs(page, 'trader')
    await shows(prices, 'A part of the page cannot be loaded.')
    const unpriced = await opened(`/console/trades/${newAccountUuid(2)}:${ticket}`, 'reader')
    await shows(unpriced, 'it needs the scope market-data:read')
    await follow(unpriced, 'Trading', true)
    await shows(unpriced, 'it needs the scope trading:write or orders:write')
    expect(await button(unpriced, 'Buy').count()).toBe(0)
    // Beside a ticket are the prices of its symbol, also where the address has a position.
    broker().open({ symbol: 'GBPUSD' })
    const held = encodeURIComponent(`${newAccountUuid(3)}:${broker().held()[0]?.ticket ?? ''}`)
    const orderer = await opened(
      `/console/trading?account=${newAccountUuid(3)}&position=${held}`,
      'orderer',
    )
    await shows(list(orderer, 'Open positions'), 'GBPUSD')
    await region(orderer, 'Prices of EURUSD').waitFor()
    // A key that may not lift a halt sees it.
    await orderer.route('**/halt', async (route) => {
      const { data, ...reply } = await (await route.fetch()).json()
      await route.fulfill({ json: { ...reply, data: { ...data, by: 'owner' } } })
    })
    await browser.pass(orderer, 10_000)
    await shows(orderer, 'The account is halted by its owner')
    expect(await button(orderer, 'Lift the halt').count()).toBe(0)
    broker().close()
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
    const positions = region(page, 'Open positions')
    await shows(positions, 'No position is open.')
    await gone.waitFor()
    await page.route(/\/positions\?/, (route) => route.abort())
    await browser.pass(page, 7_000)
    await shows(positions, 'What is shown was read')
    expect(await gone.count()).toBe(0)
    const other = await opened('/console/trading?account=other')
    await shows(other, 'No account with the id "other" is linked')
  })

  it('previews an order as it is typed, places it, changes its levels and closes it in parts', async () => {
    const page = await opened('/console/trading')
    await shows(page, /checks pass/)
    // What is typed stays, whatever is read meanwhile.
    const symbol = page.getByLabel('Symbol')
    await symbol.press('ControlOrMeta+a')
    await symbol.pressSequentially('gbp')
    await Promise.all([page.waitForResponse(/preview/), browser.pass(page, 10_000)])
    await page.clock.runFor(1_000)
    expect(await symbol.inputValue()).toBe('gbp')
    await symbol.pressSequentially('usd')
    await symbol.press('Tab')
    await button(page, 'Buy 0.10 GBPUSD').waitFor()
    await shows(page, /^0\.01 to 10$/)
    await symbol.fill('eurusd')
    await symbol.press('Tab')
    await button(page, 'Buy 0.10 EURUSD').waitFor()
    await shows(page, /checks pass/)
    // What cannot be checked does not keep the outcome of other terms.
    await page.route(/preview/, (route) => route.abort())
    await page.getByLabel('Lots').fill('0.2')
    await shows(page, 'The service does not answer.')
    await lacks(page, /checks pass/)
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByLabel('Lots').fill('0.10')
    await shows(page, /checks pass/)
    await page.getByLabel('Stop loss', { exact: true }).fill('9')
    await shows(page, /stopLoss must be .* below the price .* got 9/)
    const buy = button(page, 'Buy 0.10 EURUSD')
    expect(await buy.isDisabled()).toBe(true)
    await page.getByLabel('Stop loss', { exact: true }).fill('1.0000')
    await shows(page, /checks pass/)
    // The second click of a double click may hit the button that sends.
    const isReady = await buy.evaluate(async (button) => {
      button.focus()
      button.click()
      for (;;) {
        const send = button.ownerDocument.querySelector('dialog[open] button.primary')
        if (send) return send.matches(':enabled')
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })
    expect(isReady).toBe(false)
    const dialog = page.getByRole('dialog')
    await shows(dialog, 'Loss at the stop')
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(broker().held()).toEqual([])
    expect(await buy.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true)
    await buy.click()
    await confirm(page, 'Buy 0.10 EURUSD at market on First, stop loss 1.00000, no take profit.')
    await shows(sent(page, 'Buy 0.10'), 'Filled 0.10 of 0.10')
    await list(page, 'Open positions').getByRole('link', { name: 'EURUSD' }).click()

    // What was typed stays where it is refused.
    const field = page.getByLabel('Stop loss', { exact: true })
    await field.fill('9')
    await send(page, 'Change the levels', /stop loss from 1.00000 to 9.00000/)
    await shows(sent(page, 'Change the buy position'), 'Not done')
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
    await send(page, 'Change the levels', /stop loss from 1.00000 to 1.00100, take profit set to/)
    await expect.poll(() => held.length).toBe(1)
    // What is typed meanwhile stays.
    await page.getByLabel('Lots to close').fill('0,04')
    // What was changed is read at once: the time does not pass to the next regular read.
    await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 10_000)
    await held[0]?.continue()
    await shows(sent(page, 'Change the buy position'), 'Changed.')
    const changed = list(page, 'Open positions').getByText('1.00100')
    // To draw and to repeat a request.
    await expect.poll(() => page.clock.runFor(2).then(() => changed.count())).toBe(1)
    await page.clock.resume()
    expect(broker().held()).toMatchObject([{ stopLoss: 1.001, takeProfit: dragged }])

    await send(
      page,
      'Close 0,04',
      /^Close 0.04 of the buy position of 0.10 EURUSD, ticket \d+, on First at market; 0.06 stay/,
    )
    await shows(sent(page, 'Close 0.04'), '0.06 stay open')
    broker().open()
    await browser.pass(page, 5_000)
    const positions = list(page, 'Open positions')
    await positions.getByRole('row').nth(2).waitFor()
    await heading(page, 'EURUSD buy 0.06').waitFor()
    await positions.getByLabel('Select all positions').check()
    await press(page, 'Close selected (2)')
    await shows(dialog, 'Close the buy position of 0.06')
    // A sentence that is not true any more cannot be confirmed.
    broker().trade({
      actionType: 'POSITION_PARTIAL',
      positionId: broker().held()[0]?.ticket ?? '',
      volume: 0.01,
    })
    await browser.pass(page, 5_000)
    await shows(dialog, 'What you hold has changed')
    await press(dialog, 'Close')
    await send(
      page,
      'Close selected (2)',
      /^Close the buy position of 0.40 EURUSD, ticket \d+, on First at market\.$/,
    )
    await sent(page, 'Close the buy position').getByText('Closed').nth(1).waitFor()
    await shows(page, 'No position is open.')
  })

  it('holds a pending order, changes and cancels it, and halts the account, on a small dark screen', async () => {
    const page = await opened('/console/trading', 'trader', {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
    })
    await page.getByRole('radio', { name: 'Limit', exact: true }).check()
    await page.getByLabel('Limit price').fill('1')
    await page.getByLabel('In force').selectOption('gtd')
    await page.getByLabel('Until', { exact: true }).fill('2035-01-05T10:00')
    await shows(page, /checks pass/)
    await send(
      page,
      'Buy 0.10 EURUSD',
      /^Buy 0.10 EURUSD at \S+ or better on First, no stop loss, no take profit, until Jan 5, 2035/,
    )
    await shows(sent(page, 'or better'), 'The broker holds it with the ticket')
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
    // A browser lets six digits be typed for the year.
    await page.getByLabel('Until', { exact: true }).fill('20350-01-05T10:00')
    expect(await button(page, 'Change the order').isDisabled()).toBe(true)
    await page.getByLabel('Until', { exact: true }).fill('2035-01-05T10:00')
    const price = String(Number(await page.getByLabel('Price', { exact: true }).inputValue()))
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await overflowOf(page)).toBe(0)
    await send(page, 'Change the order', /^Change the order to buy .*: price from \S+ to \S+\.$/)
    await shows(sent(page, 'Change the order'), 'Changed.')
    // Else its sentence would change once the new price is read.
    await list(page, 'Working orders').getByText(price).waitFor()
    await send(page, 'Cancel the order', /^Cancel the order to buy 0.10 EURUSD/)
    await shows(sent(page, 'Cancel the order'), 'It was cancelled')

    await browser.pass(page, 10_000)
    await shows(page, 'The order is not among the open ones')
    await press(page, 'New order')
    await page.getByLabel('Reason').fill('news')
    await press(page, 'Halt the account')
    await Promise.all([
      page.waitForResponse(/halt/),
      confirm(
        page,
        'Halt First, because of "news": it accepts no orders until the halt is lifted.',
      ),
    ])
    await browser.pass(page, 10_000)
    await page.getByText('The account is halted by its owner').first().waitFor()
    await shows(page, /It would be refused/)
    await send(page, 'Lift the halt', 'Lift the halt of First: it accepts orders again.')
    await button(page, 'Halt the account').waitFor()
  })

  it('shows what may have been done as unknown, and as done only once that is known', async () => {
    const page = await opened('/console/trading')
    const before = broker().sends()
    // The service has it, and no answer comes back to the page.
    await page.route('**/api/v1/orders?wait=*', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await shows(page, /checks pass/)
    await send(page, 'Buy 0.10 EURUSD', /^Buy 0.10/)
    await shows(sent(page, 'Buy 0.10'), 'It may have been done.', 'Filled')
    expect(broker().sends() - before).toBe(1)

    // Signing out ends no write, and says which outcomes are not known.
    const unanswered: Route[] = []
    await page.route('**/api/v1/orders?wait=*', (route) => void unanswered.push(route))
    await send(page, 'Buy 0.10 EURUSD', /^Buy 0.10/)
    await press(page, 'Buy 0.10 EURUSD')
    await shows(page, 'You have already sent this')
    await press(page, 'Do not send')
    await press(page, 'Sign out')
    await shows(page, 'The outcome of 1 write is not known')
    // What its key is answered later does not sign out whoever has signed in since.
    await signInAs(page, 'trader')
    await shows(page, /checks pass/)
    await Promise.all([
      page.waitForResponse(/orders\?wait=/),
      unanswered[0]?.fulfill({ status: 401 }),
    ])
    await follow(page, 'Events', true)
    await heading(page, 'Events', true).waitFor()

    // A reload forgets none of them.
    await follow(page, 'Trading', true)
    await send(page, 'Buy 0.10 EURUSD', /^Buy 0.10/)
    await shows(sent(page, 'Buy 0.10'), 'Under way.')
    page.once('dialog', (dialog) => void dialog.accept())
    await page.reload()
    await signInAs(page, 'trader')
    await shows(sent(page, 'Buy 0.10'), 'The page was reloaded')
    await press(page, 'Buy 0.10 EURUSD')
    await shows(page, 'You have already sent this')
  })
})
