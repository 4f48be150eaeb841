// The console's statistics in a real browser: the curve, charts of groups of trades, robust
// statistics, and the table of trades.
import { times } from '@tradeport/testkit'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  accessibilityFaults,
  changeUser,
  chromiumPath,
  overflowOf,
  press,
  shows,
  signInAs,
  useBrowser,
  group,
  region,
  lacks,
} from './support/browser.ts'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import { linkDesk, untilAgreed } from './support/desk.ts'
import { useTestService } from './support/service.ts'

/** So many trades on each day from 2026-01-10 on, all of which close at half past twelve. */
const tradesOf = (results: readonly number[], perDay = 1) =>
  results.flatMap((profit, at) =>
    tradeDeals({
      positionId: String(at + 1_000),
      symbol: at % 2 === 0 ? 'EURUSD' : 'XAUUSD',
      profit,
      openedAt: new Date(Date.UTC(2026, 0, Math.floor(at / perDay) + 10, 10)).toISOString(),
      closedAt: new Date(Date.UTC(2026, 0, Math.floor(at / perDay) + 10, 12, 30)).toISOString(),
    }),
  )

const history = historyOf([
  depositDeal('1', '2026-01-01T00:00:00.000Z', 1_000),
  ...tradesOf([-20, 15, 15, -20, 15, 15, -20, 15, 15]),
  depositDeal('2', '2026-01-14T00:00:00.000Z', -100),
])

const amount = (text: string) => Number(text.replaceAll(/[^\d.-]/g, ''))
const answers = (page: Page) => page.locator('.answers dd')
const sumOn = (page: Page) =>
  group(page, 'Accounts').getByRole('row').filter({ hasText: 'All in USD' })

describe.skipIf(chromiumPath === undefined)('the statistics of the console', () => {
  const browser = useBrowser()
  const service = useTestService([], {
    now: browser.now,
    environment: { CAPABILITIES: 'console,insights' },
  })
  const opened = (path: string, user: string, options = {}) =>
    browser.open(`${service.apiUrl}${path}`, { timezoneId: 'Europe/Berlin', ...options, user })

  it('draws deposits and withdrawals, the deepest drawdown and the equity of now, and has them as a table', async () => {
    await untilAgreed(await linkDesk(service, { user: 'u-1', broker: { history } }))
    const page = await opened('/console', 'u-1')
    const curve = region(page, /in short$/)
    const titles = () => curve.locator('svg title').allTextContents()
    await expect
      .poll(titles)
      .toEqual(['Jan 1, 2026: deposit 1K', 'Jan 14, 2026: withdrawal -100', 'Equity now: $930.00'])
    await expect.poll(() => curve.locator('.worst').count()).toBe(1)
    await shows(curve, '$1,000.00 in, $100.00 out')
    await curve.getByText('As a table').click()
    const rows = group(curve, /as a table/).getByRole('row')
    await rows.nth(1).waitFor()
    await expect.poll(() => rows.count()).toBe(12)
    expect(await rows.nth(6).getByRole('cell').allInnerTexts()).toEqual([
      'Jan 14, 2026, 1:00:00 AM',
      'withdrawal -$100.00',
      '$890.00',
      '',
    ])
    expect([await accessibilityFaults(page), await overflowOf(page)]).toEqual([[], 0])
  })

  it('draws net profit, and no equity beside it, while the balance is not known', async () => {
    await linkDesk(service, { user: 'u-10', broker: { history } })
    const page = await browser.open(`${service.apiUrl}/console`)
    await page.route('**/trades/curve?*', async (route) => {
      const json = await (await route.fetch()).json()
      for (const point of json.data.points) point.balance = null
      await route.fulfill({ json: { ...json, data: { ...json.data, cashFlows: null } } })
    })
    await signInAs(page, 'u-10')
    const curve = region(page, /in short$/)
    await shows(curve, 'The balance is not known', 'Equity now')
    expect(await curve.locator('.equity').count()).toBe(0)
  })

  it('answers in sentences whether an account made money, and says what is not known', async () => {
    await untilAgreed(await linkDesk(service, { user: 'u-6', broker: { history } }))
    const page = await opened('/console', 'u-6')
    await shows(page, 'add up to the broker')
    await expect
      .poll(() => answers(page).allInnerTexts())
      .toEqual([
        'Yes: +$30.00 from 9 closed trades, and $0.00 from what is open now, both with commission and swap.',
        '9 trades are too few to tell skill from luck; at least 30 are needed.',
        expect.stringMatching(
          /^From the first trade to Jan 10, 2026: closed trades lost \$20\.00.* EURUSD lost most in it: -\$20\.00 in 1 trade\.$/,
        ),
        'None lost.',
        expect.stringMatching(/^It agrees: the 20 deals add up .* Checked /),
      ])
    const losing = historyOf([
      depositDeal('1', '2026-01-01T00:00:00.000Z', 10_000),
      ...tradesOf([1]),
    ])
    const desk = await linkDesk(service, { user: 'u-7', broker: { history: losing } })
    desk.broker.open()
    await untilAgreed(desk)
    await changeUser(page, 'u-7')
    await shows(page, /^No: \+\$1\.00 from 1 closed trade,/)
    desk.broker.close()
    await browser.pass(page, 30_000)
    await shows(page, /from 2 closed trades,/)
    const charged = historyOf([
      depositDeal('1', '2026-01-01T00:00:00.000Z', 10_000),
      { ...depositDeal('2', '2026-01-02T00:00:00.000Z', -2), type: 'DEAL_TYPE_COMMISSION_MONTHLY' },
      ...tradesOf([1]),
    ])
    await untilAgreed(await linkDesk(service, { user: 'u-14', broker: { history: charged } }))
    await changeUser(page, 'u-14')
    await shows(page, /^No: \+\$1\.00 .* booked -\$2\.00 in charges and corrections\./)
    // A basket that closed within one millisecond.
    const basket = historyOf(tradesOf([10, -50], 2))
    await untilAgreed(await linkDesk(service, { user: 'u-15', broker: { history: basket } }))
    await changeUser(page, 'u-15')
    await shows(
      page,
      /lost \$50\.00 from their peak.* XAUUSD lost most in it: -\$50\.00 in 1 trade\.$/,
    )
    const unread = await linkDesk(service, { user: 'u-8', broker: { history } })
    unread.fail('any', { kind: 'unavailable' })
    await changeUser(page, 'u-8')
    await expect
      .poll(async () => (await answers(page).allInnerTexts()).map((text) => text.slice(0, 10)))
      .toEqual(times(5, () => 'Not known.'))
  })

  it('has figures that add up to the equity, with what open positions cost', async () => {
    const desk = await linkDesk(service, { user: 'u-9', broker: { history } })
    // Bought and sold, so that no movement of the price changes the sum between two reads.
    // Both so small that the account has margin for them at any price.
    desk.broker.open({ volume: 0.1 })
    desk.broker.open({ actionType: 'ORDER_TYPE_SELL', volume: 0.1 })
    await untilAgreed(desk)
    const page = await opened('/console', 'u-9')
    const fact = async (name: string) => {
      const term = page.locator('.facts > div').filter({ hasText: name })
      const text = (await term.locator('dd').innerText()).replace(/ at .*/s, '')
      // Two amounts are "… in, … out".
      return text.split(' in,').map(amount)
    }
    await shows(page, 'from what is open now')
    const [paidIn = NaN, paidOut = NaN] = await fact('Booked besides trades')
    const [closed = NaN] = await fact('Net profit of closed trades')
    const [open = NaN] = await fact('Open positions')
    const [equity = NaN] = await fact('Equity now')
    expect(open).toBeLessThan(0)
    expect(paidIn - paidOut + closed + open).toBeCloseTo(equity, 8)
    const account = group(page, 'Accounts').getByRole('row').nth(1)
    const [balance = NaN, floating = NaN, shown = NaN] = (
      await account.getByRole('cell').allInnerTexts()
    ).map(amount)
    expect([balance + floating, shown]).toEqual([expect.closeTo(equity, 8), equity])
    const sum = page.getByRole('row').filter({ hasText: 'All in USD' })
    const [price = NaN, swap = NaN, commission = NaN, result = NaN] = (
      await sum.getByRole('cell').allInnerTexts()
    )
      .filter((text) => text.trim() !== '')
      .map(amount)
    expect(commission).toBeLessThan(0)
    expect([price + swap + commission, result]).toEqual([expect.closeTo(open, 8), open])
  })

  let linked = 0
  const link = (user: string, currency: string) => {
    linked += 1
    const fields = { currency, accountNumber: String(linked) }
    return linkDesk(service, { user, broker: { history: { ...history, currency } }, fields })
  }

  it('sums up accounts of one currency while all are known, and draws no equity that is not', async () => {
    for (const currency of ['USD', 'USD', 'EUR']) await link('u-2', currency)
    const page = await opened('/console', 'u-2')
    await sumOn(page).getByText('$1,860.00').first().waitFor()
    await lacks(page, 'All in EUR')
    const [unread] = [await link('u-3', 'USD'), await link('u-3', 'USD')]
    unread.fail('any', { kind: 'unavailable' })
    await changeUser(page, 'u-3')
    await shows(sumOn(page), '1 of which cannot be read now')
    const cells = await sumOn(page).getByRole('cell').allInnerTexts()
    expect(cells.slice(0, 4)).toEqual(['–', '–', '–', '–'])
    await shows(page, 'Equity now is unknown')
  })

  it('gives the interval of a win rate of 100 %, and calls no history without a loss better than luck', async () => {
    const winners = historyOf(tradesOf(times(30, (at) => at + 1)))
    await linkDesk(service, { user: 'u-16', broker: { history: winners } })
    const page = await opened('/console/trades', 'u-16')
    const statistics = region(page, 'Statistics')
    await shows(statistics, 'No trade lost')
    await shows(statistics, '88.6 % to 100.0 %')
    // A day that is none does not stand for all of the history.
    const refused = await opened('/console/trades?from=2026-02-30', 'u-16')
    await shows(region(refused, 'Statistics'), 'got "2026-02-30"')
  })

  describe('of 120 trades', () => {
    const many = historyOf(
      tradesOf(
        times(120, (at) => (at % 3) * 10 - 9),
        3,
      ),
    )
    beforeAll(async () => {
      await linkDesk(service, { user: 'u-4', broker: { history: many } })
    })

    it('draws months and hours of a chosen zone, holding times and results, each with its number of trades, and intervals when asked to', async () => {
      const page = await opened('/console/trades', 'u-4')
      const charts = region(page, /^When money was made/)
      const rowOf = (chart: string, row: string) =>
        group(charts, chart).getByRole('row', { name: row })
      await rowOf('Months', 'Jan').waitFor()
      expect(await rowOf('Months', 'Jan').getByRole('cell').allTextContents()).toEqual([
        '+6666 trades',
      ])
      await shows(charts, '2 of 2 months with trades made money')
      const hours = () => rowOf('Weekday and hour', '12–16').getByRole('cell').allTextContents()
      await expect.poll(hours).toContain('+1818 trades')
      await expect.poll(() => rowOf('Weekday and hour', '12–16').locator('.few').count()).toBe(7)
      await page.getByLabel('hours and months in').selectOption('Asia/Tokyo')
      await rowOf('Weekday and hour', '20–24').locator('.few').first().waitFor()
      expect(new URL(page.url()).searchParams.get('zone')).toBe('Asia/Tokyo')
      await expect.poll(() => charts.getByText('closing in Asia/Tokyo').count()).toBe(2)
      await rowOf('By holding time', '1 h to 4 h').waitFor()
      await charts.getByText('As a table').click()
      const results = group(charts, /^Distribution/).getByRole('row')
      await results.nth(1).waitFor()
      expect((await results.allInnerTexts()).slice(1)).toEqual([
        '-$10.00 to $0.00\t40\t-$360.00',
        '$0.00 to $10.00\t40\t+$40.00',
        '$10.00 to $20.00\t40\t+$440.00',
      ])
      const robust = region(page, 'How else it could have come out')
      await press(robust, 'Compute')
      // A thread of low priority starts first, on a machine that runs other tests.
      await robust.getByText('of the drawn histories lost money').waitFor({ timeout: 45_000 })
      const intervals = await robust.getByRole('img').all()
      const names = await Promise.all(intervals.map((one) => one.getAttribute('aria-label')))
      expect(names).toHaveLength(5)
      for (const name of names) expect(name).toMatch(/^95 % interval from \S+/)
    })
  })

  it('sorts all trades of a long list, of which only the rows near the window are in the document', async () => {
    const results = times(700, (at) => ((at * 7_919) % 700) - 300)
    const broker = { history: historyOf(tradesOf(results, 50)) }
    await linkDesk(service, { user: 'u-5', broker })
    const page = await opened('/console/trades?sort=-netProfit', 'u-5')
    const list = region(page, 'Closed trades')
    await shows(list, '100 of 700 trades', 'The order is that of these only')
    await press(list, 'Show all 700')
    await shows(list, '700 trades.')
    await lacks(list, 'The order is that of these only')
    const rows = list.locator('tbody tr[aria-rowindex]')
    const counts: number[] = []
    for (let part = 0; part <= 10; part++) {
      await page.evaluate(`scrollTo(0, ${part / 10} * document.documentElement.scrollHeight)`)
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))',
      )
      counts.push(await rows.count())
    }
    expect(Math.max(...counts)).toBeLessThan(200)
    const resultAt = (index: number) =>
      list.locator(`[aria-rowindex="${index}"]`).getByRole('cell').last().textContent()
    expect(await resultAt(701)).toBe('-$300.00')
    await page.evaluate('scrollTo(0, 0)')
    expect(await resultAt(2)).toBe('+$399.00')
    expect(await overflowOf(page)).toBe(0)
    // A phone shows each row as a card.
    await page.setViewportSize({ width: 390, height: 800 })
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    expect(await resultAt(701)).toBe('-$300.00')
  })
})
