// The console in a real browser: signing in, the overview, trades.
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDemoSignIn } from '../src/demo-sign-in.ts'
import {
  accessibilityFaults,
  chromiumPath,
  follow,
  press,
  shows,
  signInAs,
  useBrowser,
  heading,
  region,
} from './support/browser.ts'
import { linkDocument, newAccountUuid, openDesk } from './support/desk.ts'
import { request, useTestService } from './support/service.ts'

const [first, second, third, fourth] = [1, 2, 3, 4].map(newAccountUuid) as [
  string,
  string,
  string,
  string,
]
const practice = {
  id: newAccountUuid(5),
  name: 'Practice',
  brokerType: 'paper',
  providerAccountId: null,
}

describe.skipIf(chromiumPath === undefined)('the console', () => {
  // Before the service, which lists the built files when it starts.
  const browser = useBrowser()
  const service = useTestService(
    [
      {
        id: 'first',
        login: '1',
        startBalance: 10_000,
        generate: { trades: 150, openPositions: 2 },
      },
      { id: 'second', login: '2', startBalance: 500 },
      { id: 'third', login: '3', startBalance: 500 },
    ],
    { now: browser.now, environment: { CAPABILITIES: 'all' } },
  )
  beforeAll(async () => {
    await service.setUp(
      linkDocument({
        user: 'trader',
        // The overview begins with the oldest account at a broker.
        accounts: [
          practice,
          { id: first, name: 'First', providerAccountId: 'first' },
          { id: second, name: 'Second', providerAccountId: 'second' },
        ],
      }),
      linkDocument({
        user: 'unlucky',
        accounts: [
          { id: third, name: 'Read once', providerAccountId: 'first' },
          { id: fourth, name: 'Never read', providerAccountId: 'third' },
        ],
      }),
      linkDocument({ user: 'reader', scopes: ['accounts:read'] }),
    )
  })
  const open = (path = '/console', options = {}) =>
    browser.open(`${service.apiUrl}${path}`, options)
  const opened = (path?: string, options?: object, user = 'trader') =>
    open(path, { ...options, user })

  it('refuses a wrong key, keeps a good one in memory unless it is asked to, and works where the browser keeps nothing', async () => {
    const page = await open()
    await signInAs(page, 'nobody')
    await shows(page, 'The service does not accept this key.')
    expect(await accessibilityFaults(page)).toEqual([])
    await signInAs(page, 'trader')
    await heading(page, 'Overview').waitFor()
    const kept = () =>
      page.evaluate<string>(
        'JSON.stringify([location.href, {...localStorage}, {...sessionStorage}])',
      )
    expect(await kept()).not.toContain('tp_live')
    await page.reload()
    await shows(page, 'Reloading the tab signed you out')
    await page.getByLabel('Stay signed in').check()
    await signInAs(page, 'trader')
    await heading(page, 'Overview').waitFor()
    await page.reload()
    await heading(page, 'Overview').waitFor()
    await press(page, 'Sign out')
    await page.getByLabel('API key').waitFor()
    expect(await kept()).not.toContain('tp_live')
    await page.addInitScript(
      "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('blocked') } })",
    )
    await page.reload()
    await signInAs(page, 'reader')
    await press(page, 'Sign out')
    await page.getByLabel('API key').waitFor()
  })

  it('shows what a key may read, why it does not show the rest, and signs out once the service refuses the key, and asks nothing more', async () => {
    const page = await opened('/console', {}, 'reader')
    await shows(page, 'it needs the scope trading:read or positions:read')
    await follow(page, 'Trades', true)
    await shows(page, 'it needs the scope trading:read or history:read')
    expect(await page.title()).toBe('Trades – Tradeport console')
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('main')
    await follow(page, 'Overview', true)
    await page.getByRole('row').nth(0).or(page.getByText('No account is linked')).first().waitFor()
    let refused = 0
    await page.route('**/api/v1/**', (route) => {
      refused += 1
      const error = { code: 'UNAUTHORIZED', message: 'Refused.', request_id: 'req_1' }
      return route.fulfill({ status: 401, json: { success: false, error } })
    })
    await page.clock.fastForward(30_000)
    await shows(page, 'the service does not accept this key any more')
    // By real time: what was asked together with the refused request may arrive here later.
    await pause(1_000)
    const before = refused
    await page.clock.fastForward(120_000)
    await pause(1_000)
    expect(refused).toBe(before)
  })

  it('reads again what was not kept current while nobody saw it, and calls it old until then', async () => {
    const page = await open()
    // An event would have it read too.
    await page.route('**/events/stream*', () => undefined)
    await signInAs(page, 'trader')
    await shows(page, /^\d open$/)
    const show = (state: 'hidden' | 'visible') =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
         document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await show('hidden')
    await page.clock.fastForward(61_000)
    await page.route('**/positions?*', () => undefined)
    const read = page.waitForRequest(/\/positions\?/, { timeout: 10_000 })
    await show('visible')
    await read
    await page.getByText('Reading again…').first().waitFor()
  })

  it('signs out after 30 minutes without activity, also whoever wakes a machine that slept for so long', async () => {
    const page = await opened()
    await heading(page, 'Overview').waitFor()
    await page.clock.fastForward(29 * 60_000)
    await page.keyboard.press('Shift')
    await page.clock.fastForward(29 * 60_000)
    await heading(page, 'Overview').waitFor()
    await page.clock.fastForward(2 * 60_000)
    await shows(page, 'You were signed out after 30 minutes')
    await signInAs(page, 'trader')
    // What the page reads is shown once it watches for activity.
    await shows(page, /^\d open$/)
    const now = await page.evaluate(() => Date.now())
    // A machine that sleeps runs no timer meanwhile.
    await page.clock.setSystemTime(now + 31 * 60_000)
    await page.keyboard.press('Shift')
    await shows(page, 'You were signed out after 30 minutes')
  })

  it('shows a position when it opens', async () => {
    const page = await opened('/console?account=other')
    await shows(page, 'No account with the id "other" is linked')
    expect(await region(page, /in short$/).count()).toBe(0)
    const positions = region(page, 'Open positions')
    await shows(positions, '2 open')
    await page.getByText('live', { exact: true }).waitFor()
    await openDesk(service, { user: 'trader', accountId: second }).place({ volume: 0.01 })
    await shows(positions, '3 open')
    await shows(page, 'Order filled')
    await page.getByRole('link', { name: 'Skip to content' }).press('Enter')
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('main')
  })

  it('shows no figure of a broker that was never read, and the last ones of one that was', async () => {
    service.sandbox.faults.set('third', 'any', { kind: 'unavailable' })
    onTestFinished(() => service.sandbox.faults.clear())
    const page = await opened('/console', {}, 'unlucky')
    const positions = region(page, 'Open positions')
    await shows(positions, 'Its positions are not known.')
    const account = page.getByRole('row').filter({ hasText: 'Never read' })
    await shows(account, ', never read')
    expect(await account.getByRole('cell').allTextContents()).toEqual(
      Array.from({ length: 5 }, () => '–'),
    )
    const held = positions.getByRole('row').filter({ hasText: 'Read once' })
    await held.first().waitFor()
    service.sandbox.faults.set('first', 'any', { kind: 'unavailable' })
    // With a regular read, once the service has forgotten what it read itself.
    await browser.pass(page, 30_000)
    await shows(positions, 'Its positions are those of')
    await expect.poll(() => held.count()).toBe(2)
  })

  it('keeps the filters in the address, sorts, reads further pages and downloads a file', async () => {
    const page = await opened(`/console/trades?account=${first}`)
    const rows = region(page, 'Closed trades').locator('tbody tr')
    await rows.nth(99).waitFor()
    await press(page, 'Show 100 more')
    await shows(page, '150 trades.')
    await expect.poll(() => rows.count()).toBe(150)
    await press(page, 'Net profit')
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-netProfit')
    const largest = (await page.getByText(/best \$/).textContent()) ?? ''
    const shownFirst = (await rows.first().getByRole('cell').last().textContent()) ?? ''
    expect(largest).toContain(shownFirst.replace('+', ''))
    await page.getByLabel('Result').selectOption('loss')
    await shows(page, /^\d+ trades\.$/)
    const losses = await rows.count()
    expect(losses).toBeLessThan(150)
    await page.reload()
    await signInAs(page, 'trader')
    await rows.first().waitFor()
    expect(await page.getByLabel('Result').inputValue()).toBe('loss')
    const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'Download CSV')])
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
    expect([file.suggestedFilename(), lines.length - 1]).toEqual([
      expect.stringMatching(/^trades_.*\.csv$/),
      losses,
    ])
    // One that is under way ends when its reader signs out.
    await page.route('**/trades/export?*', () => undefined)
    await press(page, 'Download CSV')
    await Promise.all([page.waitForEvent('requestfailed'), press(page, 'Sign out')])
  })

  it('serves files with hashes in their names for good, compressed, under a policy without exceptions', async () => {
    const page = await request(`${service.apiUrl}/console`, {
      headers: { 'Accept-Encoding': 'gzip' },
    })
    const policy = page.headers.get('Content-Security-Policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|data:|https?:|\*/)
    const script = /src="([^"]+\.js)"/.exec(page.body)?.[1] ?? ''
    const { status, headers } = await request(`${service.apiUrl}${script}`, {
      headers: { 'Accept-Encoding': 'gzip' },
    })
    expect([status, headers.get('Cache-Control'), headers.get('Content-Encoding')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
      'gzip',
    ])
    expect((await request(`${service.operatorUrl}/console`)).status).toBe(404)
  })
})

it.each([
  ['at once', 0, undefined, 'key'],
  ['within a minute', 60_000, undefined, 'key'],
  ['later', 60_001, undefined, undefined],
  ['with another code', 0, 'another', undefined],
])('exchanges the code of the link %s', (_, laterMs, otherCode, key) => {
  let now = 0
  const { link, pages } = createDemoSignIn('key', { now: () => now })
  now += laterMs
  const code = otherCode ?? link.split('code=')[1] ?? ''
  const context = { req: { headers: { authorization: `Bearer ${code}` } }, body: {}, status: 200 }
  void pages['/console/demo-key']?.(context as never, undefined as never)
  expect(context.body).toEqual(key === undefined ? { message: expect.any(String) } : { key })
})
