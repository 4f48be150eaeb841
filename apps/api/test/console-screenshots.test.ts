// The console's pages at three widths: they fit, are accessible in light and dark colours, and look
// as in the screenshots that were accepted.
import type { Locator } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  accessibilityFaults,
  chromiumPath,
  overflowOf,
  signInAs,
  useBrowser,
  button,
  group,
} from './support/browser.ts'
import { eventually, linkDocument, newAccountUuid, openDesk } from './support/desk.ts'
import { hasFont, screenshotFault } from './support/screenshots.ts'
import { useTestService } from './support/service.ts'

const accountId = newAccountUuid(1)
// A Wednesday afternoon, so that no page shows a time of the day before.
const now = Date.UTC(2026, 9, 14, 15, 30)
const hourMs = 3_600_000

/**
 * By the name of the screenshot. `:trade` and `:webhook` are ids of what the set-up makes. The
 * figures of the tables that are named fit on a small screen without scrolling.
 */
const pages: Readonly<Record<string, readonly [path: string, tables?: readonly string[]]>> = {
  overview: ['/console', ['Accounts', 'Open positions']],
  trades: ['/console/trades', ['By symbol', 'By holding time', 'Closed trades']],
  trade: ['/console/trades/:trade', ['Deals']],
  trading: ['/console/trading'],
  report: [`/console/report?account=${accountId}`],
  events: ['/console/events'],
  webhooks: ['/console/webhooks'],
  webhook: ['/console/webhooks/:webhook'],
}

const widths = [
  [360, 800],
  [768, 1_000],
  [1_440, 900],
] as const

const overflowIn = (table: Locator) => table.evaluate((box) => box.scrollWidth - box.clientWidth)

describe.skipIf(chromiumPath === undefined)('the console', () => {
  const browser = useBrowser()
  const service = useTestService(
    [
      {
        id: 'first',
        login: '1',
        startBalance: 10_000,
        generate: { trades: 150, openPositions: 3 },
      },
    ],
    {
      now: () => now,
      // No second attempt is made while pages are looked at.
      environment: { CAPABILITIES: 'all', WEBHOOK_RETRY_SECONDS: '3600,3600,3600,3600' },
    },
  )
  let ids: Readonly<Record<string, string>>
  let madeAt: number
  /** Events and deliveries have times of the database, which are shown as fixed ones. */
  const fixedTime = (time: string) => {
    const hours = Math.round((Date.parse(time) - madeAt) / hourMs)
    return Math.abs(hours) > 1 ? time : new Date(now + hours * hourMs).toISOString()
  }
  beforeAll(async () => {
    await service.setUp(
      linkDocument({
        user: 'trader',
        accounts: [
          {
            id: accountId,
            name: 'Trend following',
            providerAccountId: 'first',
            createdAt: new Date(now).toISOString(),
          },
        ],
      }),
    )
    const desk = openDesk(service, { user: 'trader', accountId })
    const { id: webhook } = await desk.createWebhook({
      url: 'https://receiver.invalid/tradeport',
      eventTypes: ['order.created', 'order.filled', 'trade.closed'],
    })
    await desk.placeAndWait()
    await eventually(
      () => desk.read(`/webhooks/${webhook}/deliveries`),
      (deliveries) =>
        deliveries.length === 2 &&
        deliveries.every(({ attempts }: { attempts: number }) => attempts > 0),
    )
    const trade = (await desk.trades())[0].id
    ids = { webhook, trade }
    madeAt = Date.now()
  })

  const title = hasFont() ? 'looks as before' : 'is not compared, without the font DejaVu Sans'
  it.each(Object.entries(pages))(
    `fits, is accessible, and ${title}: %s`,
    async (name, [path, tables = []]) => {
      const page = await browser.open(
        `${service.apiUrl}${path.replaceAll(/:(trade|webhook)/g, (_, kind: string) => encodeURIComponent(ids[kind] ?? ''))}`,
        {
          now,
          viewport: { width: widths[0][0], height: widths[0][1] },
          locale: 'en-US',
          timezoneId: 'Europe/Berlin',
          reducedMotion: 'reduce',
        },
      )
      await page.route(/\/api\/v1\/(events\?|webhooks)/, async (route) => {
        const response = await route.fetch()
        const body = (await response.text()).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, fixedTime)
        await route.fulfill({ response, body })
      })
      await page.getByLabel('Stay signed in').check()
      await signInAs(page, 'trader')
      await button(page, 'Sign out').waitFor()
      // Where it points at nothing.
      await page.mouse.move(0, 0)
      const faults: (string | undefined)[] = []
      const checkAccessibility = async (colorScheme: 'light' | 'dark') => {
        await page.emulateMedia({ colorScheme })
        faults.push(...(await accessibilityFaults(page)))
      }
      for (const [index, [width, height]] of widths.entries()) {
        if (index > 0) await page.setViewportSize({ width, height })
        // Prices that are drawn anew look the same each time, and those that are resized may not.
        if (index > 0 && (await page.locator('.price-chart').count()) > 0) {
          await page.reload()
          await button(page, 'Sign out').waitFor()
        }
        await page.locator('.reading, .connecting').first().waitFor({ state: 'detached' })
        if (hasFont()) faults.push(await screenshotFault(`${name}-${width}`, page))
        expect(await overflowOf(page), `${width} pixels`).toBe(0)
        if (width === 1_440) await checkAccessibility('dark')
        if (width > 360) continue
        for (const table of tables) expect(await overflowIn(group(page, table, true))).toBe(0)
        await checkAccessibility('light')
      }
      expect(faults.filter((fault) => fault !== undefined)).toEqual([])
    },
  )
})
