// The console in Chromium, served by the built service on an embedded database: from its address to
// the form to sign in and to a whole overview, with nothing cached, what an open overview of 50
// positions costs while its account trades, and how smoothly a table of 10,000 trades scrolls.
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Browser, Page } from 'playwright-core'
import { startChromium } from '../chromium.ts'
import { median, type Bench } from './bench.ts'
import { accountUuid, apiKeyOf, askApi, linkUsers } from './service.ts'
import { providerToken, startService, type MeasuredService } from './service.ts'

const loads = 9
const loadedWithinMs = 1_500
const positions = 50
const watchedMs = 60_000
/** An order is filled, or a position closed, each time. */
const tradesEveryMs = 5_000
const shareOfCore = 0.05
const listedTrades = 10_000
const longTaskMs = 100
const key = apiKeyOf('bench-console')
const accountId = accountUuid(0)
const [longKey, longAccountId] = [apiKeyOf('bench-console-long'), accountUuid(1)]
const symbols = ['EURUSD', 'GBPUSD', 'USDJPY', 'XAUUSD', 'NAS100']

export const consoleBench: Bench = {
  name: 'console',
  needsServer: false,
  run: async (_, closeLater) => {
    const sandbox = await startSandbox({
      seed: 7,
      tokens: [providerToken],
      accounts: [
        {
          id: 'bench',
          startBalance: 1_000_000,
          generate: { trades: 320 },
          positions: Array.from({ length: positions }, (__, index) => ({
            symbol: symbols[index % symbols.length] ?? '',
            side: index % 2 === 0 ? ('buy' as const) : ('sell' as const),
            volume: 0.01,
          })),
        },
        { id: 'long', generate: { trades: listedTrades, openPositions: 0 } },
      ],
    })
    closeLater(sandbox.close)
    const service = await startService(
      { providerUrl: sandbox.url, environment: { CAPABILITIES: 'all' } },
      closeLater,
    )
    await linkUsers(service, [
      { id: 'bench', accounts: [{ id: accountId, providerAccountId: 'bench' }], keys: [key] },
      { id: 'long', accounts: [{ id: longAccountId, providerAccountId: 'long' }], keys: [longKey] },
    ])
    const browser = await startChromium()
    closeLater(() => browser.close())

    const times = { form: [] as number[], overview: [] as number[] }
    // The first makes the journal, and does not count.
    for (let load = 0; load <= loads; load += 1)
      for (const [name, open] of [
        ['form', openForm],
        ['overview', openOverview],
      ] as const) {
        const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } })
        const page = await context.newPage()
        await open(page, service)
        if (load > 0) times[name].push(await page.evaluate<number>('performance.now()'))
        await context.close()
      }

    const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } })
    await openOverview(page, service)
    await page.getByText('live', { exact: true }).waitFor()
    await pause(tradesEveryMs)
    const before = await processorMs(browser)
    const trades = await trade(service)
    const used = (await processorMs(browser)) - before
    await page.close()
    const longest = await longestTaskOfScrolling(browser, service)
    return [
      {
        name: 'from the address to the form to sign in, nothing cached',
        ours: median(times.form),
        reference: loadedWithinMs,
        target: 1,
        against: loadsAgainst(times.form),
      },
      {
        name: 'from the address to the overview, nothing cached',
        ours: median(times.overview),
        reference: loadedWithinMs,
        target: 1,
        against: `${loadsAgainst(times.overview)}. Signed in already; the curve is drawn, and nothing is being read any more`,
      },
      {
        name: `processor time of an overview of ${positions} positions, of ${watchedMs / 1_000} s`,
        ours: used,
        reference: watchedMs,
        target: shareOfCore,
        against: `one core: all processes of Chromium together, while the account makes ${trades} orders and closes, each of which reads everything shown again`,
      },
      {
        name: `the longest task while a table of ${listedTrades} trades scrolls to its end`,
        ours: longest,
        reference: longTaskMs,
        target: 1,
        against:
          'the bound; Chromium reports tasks of 50 ms and longer, so that 0 is less than that',
      },
    ]
  },
}

const loadsAgainst = (times: readonly number[]): string =>
  `the bound; the median of ${loads} loads, the longest is ${Math.max(...times).toFixed(0)} ms. The bench and the provider share the machine`

const openForm = async (page: Page, { api }: MeasuredService): Promise<void> => {
  await page.goto(`${api}/console`, { waitUntil: 'commit' })
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
}

/** Signed in as if the tab were reloaded, so that nobody has to type. */
const openSignedIn = async (page: Page, url: string, as = key): Promise<void> => {
  const kept = JSON.stringify(JSON.stringify({ key: as, usedAt: Date.now() }))
  await page.addInitScript(`sessionStorage.setItem('tradeport-session', ${kept})`)
  await page.goto(url, { waitUntil: 'commit' })
}

const openOverview = async (page: Page, { api }: MeasuredService): Promise<void> => {
  await openSignedIn(page, `${api}/console`)
  await page.locator('main svg').first().waitFor()
  await page.getByText(`${positions} open`).waitFor()
  await page.locator('.reading').first().waitFor({ state: 'detached' })
}

const longestTaskOfScrolling = async (
  browser: Browser,
  { api }: MeasuredService,
): Promise<number> => {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } })
  page.setDefaultTimeout(60_000)
  await openSignedIn(page, `${api}/console/trades?account=${longAccountId}`, longKey)
  const shown = listedTrades.toLocaleString('en')
  await page.getByRole('button', { name: `Show all ${shown}` }).click()
  await page.getByText(`${shown} trades.`, { exact: true }).waitFor()
  await pause(1_000)
  return page.evaluate<number>(`new Promise((resolve) => {
    let longest = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
    }).observe({ type: 'longtask' })
    const scroll = () => {
      const before = scrollY
      scrollBy(0, 3_000)
      if (scrollY === before) setTimeout(() => resolve(longest), 1_000)
      else requestAnimationFrame(scroll)
    }
    scroll()
  })`)
}

/** Opens and closes positions in turn. Returns how often. */
const trade = async (service: MeasuredService): Promise<number> => {
  const order = { accountId, symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.01 }
  const startedAt = performance.now()
  let opened: string | undefined
  let count = 0
  while (performance.now() - startedAt < watchedMs) {
    const nextAt = startedAt + (count + 1) * tradesEveryMs
    if (opened === undefined) {
      const { data } = await askApi<Placed>(service, key, 'orders?wait=5', order)
      opened = data.positionId
    } else {
      await askApi(service, key, `positions/${encodeURIComponent(opened)}/close`, {})
      opened = undefined
    }
    count += 1
    await pause(Math.max(0, nextAt - performance.now()))
  }
  return count
}

interface Placed {
  readonly data: { readonly positionId?: string }
}

/** What all processes of the browser have used so far. */
const processorMs = async (browser: Browser): Promise<number> => {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime * 1_000, 0)
}
