// The console's webhooks, its log of events and the link of the demo, in a real browser. The service
// is the demo, which posts to receivers on the same machine.
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { verifyWebhook } from '@tradeport/client'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { demoProviderToken } from '../src/demo.ts'
import {
  accessibilityFaults,
  changeUser,
  chromiumPath,
  follow,
  shows,
  signInAs,
  useBrowser,
  button,
  group,
  heading,
  lacks,
  overflowOf,
} from './support/browser.ts'
import { eventually, linkDocument, newAccountUuid, openDesk } from './support/desk.ts'
import { setUpAt, startDemo } from './support/service.ts'

const accountId = newAccountUuid(1)

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const userWith = (user: string, scopes: readonly string[]) =>
  linkDocument({ user, providerToken: demoProviderToken, scopes })

const eventsTo = (newest: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `evt_${newest - at}`,
    event: 'order.created',
    timestamp: '2026-01-05T10:00:00.000Z',
    data: { symbol: `S${newest - at}` },
  }))
const answer = (route: Route | undefined, data: readonly object[]) =>
  route?.fulfill({
    json: { success: true, data, meta: { pagination: { has_next: data.length > 50 } } },
  })

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const confirm = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name }).click()

describe.skipIf(chromiumPath === undefined)('the console', () => {
  const browser = useBrowser()
  let service: Awaited<ReturnType<typeof startDemo>>
  let desk: ReturnType<typeof openDesk>
  let hook = ''
  let status = 200
  const received: Received[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(status).end()
  }
  const receiver = createServer((request, response) => void receive(request, response))
  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    service = await startDemo({ WATCH_SECONDS: '2' })
    await setUpAt(
      service.operatorUrl,
      linkDocument({
        user: 'trader',
        providerToken: demoProviderToken,
        accounts: [
          { id: accountId, name: 'Main '.repeat(20), providerAccountId: 'demo-introducing-broker' },
        ],
      }),
      userWith('watcher', ['webhooks:read', 'positions:read']),
      userWith('stranger', ['accounts:read']),
    )
    desk = openDesk(service, { user: 'trader', accountId, order: { volume: 0.01 } })
  })
  afterAll(async () => {
    await service?.close()
    receiver.close()
  })
  beforeEach(async () => {
    status = 200
    received.splice(0)
    for (const { id } of await desk.read('/webhooks')) await desk.call('DELETE', `/webhooks/${id}`)
  })

  const open = (path: string, user = 'trader', options = {}) =>
    browser.open(`${service.apiUrl}/console/${path}`, { ...options, user })
  const createWebhook = async (eventTypes: readonly string[]) =>
    (await desk.createWebhook({ url: hook, eventTypes })).id
  const delivered = (count: number) =>
    eventually(
      () => received.length,
      (length) => length >= count,
    )

  // The first, while the link is valid.
  it('is signed in to by the link of the demo, once', async () => {
    const link = /http\S+#code=\S+/.exec(service.welcome ?? '')?.[0] ?? ''
    expect(link).not.toContain('tp_live')
    const page = await browser.open(link)
    await heading(page, 'Demo trading in short').waitFor()
    expect(page.url()).not.toContain('code')
    await page.goto('about:blank')
    await page.goto(link)
    await shows(page, 'The link was used before, or is older than a minute.')
  })

  it('shows a secret once, copies it, and forgets it', async () => {
    const page = await open('webhooks', 'trader', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await shows(page, 'No webhook is registered')
    await page.getByLabel('Posts to').fill('http://example.com/hook')
    await press(page, 'Create webhook')
    await shows(page, 'Choose at least one event.')
    await press(page, 'All')
    await press(page, 'Create webhook')
    await shows(page, 'url must be an https URL')
    await page.getByLabel('Posts to').fill(hook)
    await press(page, 'Create webhook')
    const secret = await page.getByLabel('Secret of the webhook').inputValue()
    await press(page, 'Copy')
    await shows(page, 'Copied.')
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret)
    expect(await accessibilityFaults(page)).toEqual([])
    // One that is created meanwhile takes no other's secret away.
    await page.getByLabel('Posts to').fill(`${hook}/second`)
    await press(page, 'All')
    await press(page, 'Create webhook')
    const secrets = page.getByLabel('Secret of the webhook')
    await secrets.nth(1).waitFor()
    await page.getByLabel('Posts to').fill(`${hook}/third`)
    await button(page, 'I have stored it').nth(1).click()
    expect(await secrets.inputValue()).toBe(secret)
    expect(await page.getByLabel('Posts to').inputValue()).toBe(`${hook}/third`)
    await press(page, 'I have stored it')
    await page.getByRole('link', { name: hook, exact: true }).click()
    await press(page, 'Send a test')
    await shows(page, /The test arrived: answered 200/)
    const [first] = received
    expect(
      await verifyWebhook({ secret, headers: first?.headers ?? {}, body: first?.body ?? '' }),
    ).toBe(true)
    expect(
      await page.evaluate<string>(
        'document.documentElement.outerHTML + JSON.stringify({...sessionStorage})',
      ),
    ).not.toContain(secret)
    status = 404
    await press(page, 'Send a test')
    await shows(page, 'The test did not arrive: it answered 404 instead of 2xx.')
  })

  it('replaces a secret once where the first answer is lost and the second is a refusal', async () => {
    const page = await open(`webhooks/${await createWebhook(['order.created'])}`)
    const keys: (string | undefined)[] = []
    const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Refused.', request_id: 'req_1' }
    const headers = { 'Retry-After': '30' }
    const rotate = async (answer: 'abort' | 'refuse' | 'continue') => {
      await page.unrouteAll()
      await page.route('**/rotate-secret', async (route) => {
        keys.push(route.request().headers()['idempotency-key'])
        if (answer === 'refuse')
          return route.fulfill({ status: 429, headers, json: { success: false, error } })
        const response = await route.fetch()
        return answer === 'abort' ? route.abort() : route.fulfill({ response })
      })
      await press(page, 'Rotate the secret…')
      await confirm(page, 'Rotate')
    }
    await rotate('abort')
    await shows(page, 'It may have been done. The service')
    await rotate('refuse')
    await shows(page, 'before. Sent again: Refused. You may try again in 30 s')
    expect(await button(page, 'Rotate the').isDisabled()).toBe(true)
    await page.clock.fastForward(30_000)
    // Also after its page was left.
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.goBack()
    await rotate('continue')
    await page.getByLabel('Secret of the webhook').waitFor()
    expect(new Set(keys).size).toBe(1)
  })

  it('rotates a secret with an overlap, and disables, changes and removes only when confirmed', async () => {
    const id = await createWebhook(['order.created'])
    const page = await open(`webhooks/${id}`)
    await press(page, 'Rotate the secret…')
    await page.getByLabel('Overlap in hours').fill('2')
    expect(await accessibilityFaults(page)).toEqual([])
    await confirm(page, 'Rotate')
    await page.getByLabel('Secret of the webhook').waitFor()
    await press(page, 'Send a test')
    await shows(page, 'The test arrived')
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    await expect.poll(focused).toBe('Send a test')
    expect(received[0]?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    await press(page, 'Disable…')
    await confirm(page, 'Disable')
    await shows(page, 'It was disabled.')
    await press(page, 'Enable')
    await shows(page, 'It was enabled.')
    await press(page, 'Change…')
    await page.getByLabel('Order filled').check()
    await press(page, 'Save')
    await shows(page, 'Order created, Order filled')
    await press(page, 'Remove…')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await desk.read('/webhooks')).toHaveLength(1)
    await press(page, 'Remove…')
    await confirm(page, 'Remove')
    await shows(page, 'No webhook is registered')
    expect(await desk.read('/webhooks')).toEqual([])
  })

  it('shows why deliveries failed, replays one, and recovers what was missed', async () => {
    status = 500
    const before = new Date(Date.now() - 60_000)
    const id = await createWebhook(['order.created'])
    await desk.place()
    await delivered(1)
    const page = await open('webhooks')
    await shows(page, /: it answered 500 instead of 2xx/, 'Failing, 1 in a row')
    // Of another failure, whose delivery is not among them, the reason is not known.
    await page.route('**/api/v1/webhooks', async (route) => {
      const json = await (await route.fetch()).json()
      for (const one of json.data) one.lastFailureAt = '2026-01-01T00:00:00.000Z'
      await route.fulfill({ json })
    })
    await Promise.all([page.waitForResponse(/status=pending/), page.clock.fastForward(15_000)])
    await shows(page, /2026/)
    await lacks(page, /it answered 500/)
    await page.getByRole('link', { name: hook }).click()
    const rows = group(page, 'Deliveries').locator('tbody tr')
    await shows(rows, 'Waiting')
    status = 200
    await press(page, 'Replay')
    await shows(page, 'It is sent again, once')
    await shows(rows, 'Delivered')
    await page.getByLabel('Show').selectOption('pending')
    await eventually(
      () => rows.count(),
      (count) => count === 1,
    )
    expect(new URL(page.url()).searchParams.get('status')).toBe('pending')
    await desk.call('PUT', `/webhooks/${id}`, { eventTypes: ['order.filled'] })
    const since = new Date(before.getTime() - before.getTimezoneOffset() * 60_000)
    await page.getByLabel('Since').fill(since.toISOString().slice(0, 16))
    await press(page, 'Recover')
    await shows(page, /[1-9]\d* events? (is|are) delivered again/)
    await press(page, 'Recover')
    await shows(page, 'It missed nothing since then.')
    const beyond = await open(`webhooks/${id}?page=99`)
    await shows(beyond, 'The list ends before this page.', 'Page 99 of 1')
    await press(beyond, 'Newer')
    await lacks(beyond, 'The list ends before this page.')
  })

  it('follows the log, keeps filters in the address, pauses, and leads to what an event is about', async () => {
    const page = await open(`events?account=${accountId}&types=order.created,order.filled`)
    const rows = group(page, 'Log').locator('tbody tr')
    await page.getByText('live', { exact: true }).waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await overflowOf(page)).toBe(0)
    const before = await rows.count()
    const first = await desk.placeAndWait()
    const shown = await eventually(
      () => rows.count(),
      (count) => count === before + 2,
    )
    await press(page, 'Pause')
    await desk.placeAndWait()
    await shows(page, 'paused, 2 newer events')
    expect(await rows.count()).toBe(shown)
    await page.getByLabel('Order created').uncheck()
    expect(new URL(page.url()).searchParams.get('types')).toBe('order.filled')
    await page.getByText('paused, 1 newer event', { exact: true }).waitFor()
    await press(page, 'Resume')
    const titles = await eventually(
      () => rows.getByRole('rowheader').allTextContents(),
      (all) => all.length === (shown + 2) / 2,
    )
    expect(new Set(titles)).toEqual(new Set(['Order filled']))
    await rows.nth(1).getByRole('link', { name: 'Order' }).click()
    await page.getByText(first.id).waitFor()
    await follow(page, 'Look at it')
    await heading(page, 'Open position').waitFor()
    await desk.close(first.positionId.split(':')[1])
    // Without a reload: the trade is there once the history has it, with the next change that is
    // read.
    await page.clock.fastForward(10_000)
    await heading(page, 'Entry and exit').waitFor()
    // A closed position is read for a minute, in case it was just opened.
    const reads: string[] = []
    await page.clock.fastForward(60_000)
    await page.waitForLoadState('networkidle')
    page.on('request', (sent) => reads.push(sent.url()))
    await page.clock.fastForward(30_000)
    await page.clock.runFor(1_000)
    expect(reads.filter((url) => url.includes('/positions/'))).toEqual([])
    await follow(page, 'Events', true)
    const closed = rows.filter({ hasText: 'Trade closed' })
    await follow(closed, 'Trade')
    await heading(page, 'Entry and exit').waitFor()
  })

  it('goes on following after the log could not be read, and misses nothing on the way', async () => {
    const page = await open('events?types=order.cancelled')
    await shows(page, 'No event that matches the filters was recorded.')
    await page.route('**/api/v1/events?*', (route) => route.fulfill({ status: 503 }))
    await follow(page, 'Trades', true)
    await page.goBack()
    await shows(page, 'Events are not followed: The service does not answer.')
    await page.unrouteAll()
    await page.route(
      '**/api/v1/events/stream?*',
      async (route) => {
        const { id } = await desk.placeAndWait({ orderType: 'limit', price: 0.5 })
        await desk.call('DELETE', `/orders/${id}`)
        await route.continue()
      },
      { times: 1 },
    )
    await page.clock.fastForward(10_000)
    await page.getByRole('rowheader', { name: 'Order cancelled' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
  })

  it('shows each event of a long log, also one that another drops while older ones are read', async () => {
    const page = await browser.open(`${service.apiUrl}/console/events`)
    let older: Route | undefined
    const coming: object[] = []
    await page.route('**/api/v1/events?*', async (route) => {
      if (route.request().url().includes('before')) older = route
      else await answer(route, eventsTo(3_000, 1_000))
    })
    await page.route('**/api/v1/events/stream?*', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: coming
          .splice(0)
          .map((one) => `retry: 500\ndata: ${JSON.stringify(one)}\n\n`)
          .join(''),
      }),
    )
    await signInAs(page, 'trader')
    await press(page, 'Show 50 older')
    await expect.poll(() => older).toBeDefined()
    coming.push(...eventsTo(3_001, 1))
    await shows(page, 'S3001')
    await answer(older, eventsTo(2_000, 50))
    await shows(page, '1,051 events shown')
    await lacks(page, 'Show 50 older')
    coming.push(...eventsTo(3_002, 1))
    await shows(page, 'S3002', 'Show 50 older')
  })

  it('shows what a key may read and do, an empty log from its beginning on, and says why the rest is not there', async () => {
    const page = await browser.open(`${service.apiUrl}/console/events`)
    const stream = page.waitForRequest('**/events/stream*')
    await signInAs(page, 'watcher')
    expect(new URL((await stream).url()).searchParams.get('after')).toBe(`evt_${'0'.repeat(20)}`)
    await shows(page, '“Order rejected”, “Order expired”: it needs the scope trading:read.')
    await expect.poll(() => page.getByRole('checkbox').count()).toBe(2)
    await shows(
      page,
      'Nothing was recorded in the time for which events are kept.',
      'While this page is open, accounts of MetaTrader',
    )
    await follow(page, 'Webhooks')
    await shows(
      page,
      'No webhook is registered',
      'This key may not change this: it needs the scope webhooks:write',
    )
    expect(await button(page, 'Create webhook').count()).toBe(0)
    await changeUser(page, 'stranger')
    await shows(page, 'it needs the scope webhooks:read')
    await page.goto(`${service.apiUrl}/console/events?types=order.expired`)
    await signInAs(page, 'trader')
    await shows(
      page,
      'No event that matches the filters was recorded.',
      'is not watched for these types alone',
    )
  })
})
