// The console in Chromium, served by the built service on an embedded database: from its address to
// the form to sign in and to a whole overview, with nothing cached, what an open overview of 50
// positions costs while its account trades, and how smoothly a table of 10,000 trades scrolls.
import { setTimeout as pause } from 'node:timers/promises'
import { linkUsers, startProvider, startService, type Service } from '@tradeport/harness'
import type { Browser, Page } from 'playwright-core'
import { startChromium } from '../chromium.ts'
import { bounded, inTurn, median, paced, timed, type Bench } from './bench.ts'
import { accountOf, apiKeyOf, plainClient, smallOrder } from './service.ts'

const loads = 9
const loadedWithinMs = 1_500
const positions = 50
/** An order is filled, or a position closed, each time. */
const tradesEveryMs = 5_000
const trades = 12
const shareOfCore = 0.05
const listedTrades = 10_000
const longTaskMs = 100
const key = apiKeyOf('bench-console')
const longKey = apiKeyOf('bench-console-long')
const [account, longAccount] = [accountOf(0), accountOf(1)]
const symbols = 'EURUSD GBPUSD USDJPY XAUUSD NAS100'.split(' ')

const viewport = { width: 1_440, height: 900 }

export const bench: Bench = async ({ stack }) => {
  const provider = await startProvider(stack, {
    seed: 7,
    accounts: [
      {
        id: account.providerAccountId,
        startBalance: 1_000_000,
        generate: { trades: 320 },
        positions: Array.from({ length: positions }, (_, index) => ({
          symbol: symbols[index % symbols.length] ?? '',
          side: index % 2 === 0 ? 'buy' : 'sell',
          volume: 0.01,
        })),
      },
      {
        id: longAccount.providerAccountId,
        generate: { trades: listedTrades, openPositions: 0 },
      },
    ],
  })
  const service = await startService(stack, {
    providerUrl: provider.url,
    environment: { CAPABILITIES: 'all' },
  })
  await linkUsers(service, [
    { id: 'bench', accounts: [account], keys: [key] },
    { id: 'long', accounts: [longAccount], keys: [longKey] },
  ])
  const url = service.api.replace('api/v1', 'console')
  const browser = await startChromium()
  stack.defer(() => browser.close())

  const msToLoad = async (open: (page: Page, url: string) => Promise<void>): Promise<number> => {
    const context = await browser.newContext({ viewport })
    const page = await context.newPage()
    await open(page, url)
    const ms = await page.evaluate<number>('performance.now()')
    await context.close()
    return ms
  }
  // The first makes the journal, and does not count.
  const times = await inTurn(loads, {
    form: () => msToLoad(openForm),
    overview: () => msToLoad(openOverview),
  })

  const page = await browser.newPage({ viewport })
  await openOverview(page, url)
  await page.getByText('live', { exact: true }).waitFor()
  await pause(tradesEveryMs)
  const before = await processorMs(browser)
  const { ms: watchedMs } = await timed(() => trade(service))
  const used = (await processorMs(browser)) - before
  await page.close()
  const loadsNote = (all: readonly number[]): string =>
    `the median of ${loads} loads, the longest is ${Math.max(...all).toFixed(0)} ms. The bench and the provider share the machine`
  return [
    bounded(
      'from the address to the form to sign in, nothing cached',
      median(times.form),
      loadedWithinMs,
      loadsNote(times.form),
    ),
    bounded(
      'from the address to the overview, nothing cached',
      median(times.overview),
      loadedWithinMs,
      `${loadsNote(times.overview)}. Signed in already; the curve is drawn, and nothing is being read any more`,
    ),
    {
      name: `processor time of an overview of ${positions} positions, of ${(watchedMs / 1_000).toFixed(0)} s`,
      ours: used,
      reference: watchedMs,
      target: shareOfCore,
      against: `one core: all processes of Chromium together, while the account makes ${trades} orders and closes, each of which reads everything shown again`,
    },
    bounded(
      `the longest task while a table of ${listedTrades} trades scrolls to its end`,
      await longestTaskOfScrolling(browser, url),
      longTaskMs,
      'Chromium reports tasks of 50 ms and longer, so that 0 is less than that',
    ),
  ]
}

const openForm = async (page: Page, url: string): Promise<void> => {
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
}

/** Signed in as if the tab were reloaded, so that nobody has to type. */
const openSignedIn = async (page: Page, url: string, as = key): Promise<void> => {
  const kept = JSON.stringify(JSON.stringify({ key: as, usedAt: Date.now() }))
  await page.addInitScript(`sessionStorage.setItem('tradeport-session', ${kept})`)
  await page.goto(url, { waitUntil: 'commit' })
}

const openOverview = async (page: Page, url: string): Promise<void> => {
  await openSignedIn(page, url)
  await page.locator('main svg').first().waitFor()
  await page.getByText(`${positions} open`).waitFor()
  await page.locator('.reading').first().waitFor({ state: 'detached' })
}

const longestTaskOfScrolling = async (browser: Browser, url: string): Promise<number> => {
  const page = await browser.newPage({ viewport })
  page.setDefaultTimeout(60_000)
  await openSignedIn(page, `${url}/trades?account=${longAccount.id}`, longKey)
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

/** Opens and closes positions in turn. */
const trade = async (service: Service): Promise<void> => {
  const client = plainClient(service, key)
  let opened: string | undefined
  await paced(trades, trades * tradesEveryMs, async () => {
    if (opened === undefined) {
      const order = { accountId: account.id, ...smallOrder }
      opened = (await client.placeOrder(order, { wait: 5 })).data.positionId
    } else {
      await client.closePosition(opened)
      opened = undefined
    }
  })
}

/** What all processes of the browser have used so far. */
const processorMs = async (browser: Browser): Promise<number> => {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime * 1_000, 0)
}
