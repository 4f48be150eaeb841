// The console's webhooks and its log of events, in a real browser. The service is the demo, which
// posts to receivers on the same machine.
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
import { accessibilityFaults, chromiumPath, signInAs, useBrowser } from './support/browser.ts'
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

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click()
const confirm = (page: Page, name: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name }).click()

describe.skipIf(chromiumPath === undefined)('the console', () => {
  const browser = useBrowser()
  let service: Awaited<ReturnType<typeof startDemo>>
  let desk: ReturnType<typeof openDesk>
  let hook = ''
  let status = 200
  const received: Received[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
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
        accounts: [{ id: accountId, name: 'Main', providerAccountId: 'demo-introducing-broker' }],
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
    for (const { id } of (await desk.get('/webhooks')).body.data)
      await desk.call('DELETE', `/webhooks/${id}`)
  })

  const open = (path: string, user = 'trader', options = {}): Promise<Page> =>
    browser.open(`${service.apiUrl}/console/${path}`, { ...options, user })
  const createWebhook = async (eventTypes: readonly string[]): Promise<string> =>
    (await desk.call('POST', '/webhooks', { url: hook, eventTypes })).body.data.id
  const delivered = (count: number): Promise<unknown> =>
    eventually(
      () => received.length,
      (length) => length >= count,
    )

  it('shows a secret once, copies it, and forgets it', async () => {
    const page = await open('webhooks', 'trader', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.getByText('No webhook is registered').waitFor()
    await page.getByLabel('Posts to').fill('http://example.com/hook')
    await press(page, 'Create webhook')
    await page.getByText('Choose at least one event.').waitFor()
    await press(page, 'All')
    await press(page, 'Create webhook')
    await page.getByText('url must be an https URL').waitFor()
    await page.getByLabel('Posts to').fill(hook)
    await press(page, 'Create webhook')
    const secret = await page.getByLabel('Secret of the webhook').inputValue()
    await press(page, 'Copy')
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret)
    expect(await accessibilityFaults(page)).toEqual([])
    // One that is created meanwhile takes no other's secret away.
    await page.getByLabel('Posts to').fill(`${hook}/second`)
    await press(page, 'All')
    await press(page, 'Create webhook')
    const secrets = page.getByLabel('Secret of the webhook')
    await secrets.nth(1).waitFor()
    await page.getByLabel('Posts to').fill(`${hook}/third`)
    await page.getByRole('button', { name: 'I have stored it' }).nth(1).click()
    expect(await secrets.inputValue()).toBe(secret)
    expect(await page.getByLabel('Posts to').inputValue()).toBe(`${hook}/third`)
    await press(page, 'I have stored it')
    await page.getByRole('link', { name: hook, exact: true }).click()
    await press(page, 'Send a test')
    await page.getByText(/The test arrived: answered 200/).waitFor()
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
    await page.getByText('The test did not arrive: it answered 404 instead of 2xx.').waitFor()
  })

  it('replaces a secret once where the first answer is lost and the second is a refusal', async () => {
    const page = await open(`webhooks/${await createWebhook(['order.created'])}`)
    const keys: (string | undefined)[] = []
    const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Refused.', request_id: 'req_1' }
    const headers = { 'Retry-After': '30' }
    const rotate = async (answer: 'abort' | 'refuse' | 'continue'): Promise<void> => {
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
    await page.getByText('It may have been done. The service').waitFor()
    await rotate('refuse')
    await page.getByText('before. Sent again: Refused. You may try again in 30 s').waitFor()
    expect(await page.getByRole('button', { name: 'Rotate the' }).isDisabled()).toBe(true)
    await page.clock.fastForward(30_000)
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
    await page.getByText('The test arrived').waitFor()
    expect(received[0]?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    await press(page, 'Disable…')
    await confirm(page, 'Disable')
    await page.getByText('It is disabled.').waitFor()
    await press(page, 'Enable')
    await page.getByText('It is enabled.').waitFor()
    await press(page, 'Change…')
    await page.getByLabel('Order filled').check()
    await press(page, 'Save')
    await page.getByText('Order created, Order filled').waitFor()
    await press(page, 'Remove…')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await desk.get('/webhooks')).body.data).toHaveLength(1)
    await press(page, 'Remove…')
    await confirm(page, 'Remove')
    await page.getByText('No webhook is registered').waitFor()
    expect((await desk.get('/webhooks')).body.data).toEqual([])
  })

  it('shows why deliveries failed, replays one, and recovers what was missed', async () => {
    status = 500
    const before = new Date(Date.now() - 60_000)
    const id = await createWebhook(['order.created'])
    await desk.place()
    await delivered(1)
    const page = await open('webhooks')
    await page.getByText(/: it answered 500 instead of 2xx/).waitFor()
    await page.getByText('Failing, 1 in a row').waitFor()
    // Of another failure, whose delivery is not among them, the reason is not known.
    await page.route('**/api/v1/webhooks', async (route) => {
      const json = await (await route.fetch()).json()
      for (const one of json.data) one.lastFailureAt = '2026-01-01T00:00:00.000Z'
      await route.fulfill({ json })
    })
    await Promise.all([page.waitForResponse(/status=pending/), page.clock.fastForward(15_000)])
    await page.getByText(/2026/).waitFor()
    expect(await page.getByText(/it answered 500/).count()).toBe(0)
    await page.getByRole('link', { name: hook }).click()
    const rows = page.getByRole('group', { name: 'Deliveries' }).locator('tbody tr')
    await rows.getByText('Waiting').waitFor()
    status = 200
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('It is sent again, once').waitFor()
    await rows.getByText('Delivered').waitFor()
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
    await page.getByText(/[1-9]\d* events? (is|are) delivered again/).waitFor()
    await press(page, 'Recover')
    await page.getByText('It missed nothing since then.').waitFor()
  })

  it('follows the log, keeps filters in the address, pauses, and leads to what an event is about', async () => {
    const page = await open(`events?account=${accountId}&types=order.created,order.filled`)
    const rows = page.getByRole('group', { name: 'Log' }).locator('tbody tr')
    await page.getByText('live', { exact: true }).waitFor()
    const before = await rows.count()
    const first = await desk.placeAndWait()
    const shown = await eventually(
      () => rows.count(),
      (count) => count === before + 2,
    )
    await press(page, 'Pause')
    await desk.placeAndWait()
    await page.getByText('paused, 2 newer events').waitFor()
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
    await page.getByRole('link', { name: 'Look at it' }).click()
    await page.getByRole('heading', { name: 'Open position' }).waitFor()
    await desk.close(first.positionId.split(':')[1])
    // Without a reload: the trade is there once the history has it, with the next change that is
    // read.
    await page.clock.fastForward(10_000)
    await page.getByRole('heading', { name: 'Entry and exit' }).waitFor()
    // A closed position is read for a minute, in case it was just opened.
    const reads: string[] = []
    await page.clock.fastForward(60_000)
    await page.waitForLoadState('networkidle')
    page.on('request', (sent) => reads.push(sent.url()))
    await page.clock.fastForward(30_000)
    await page.clock.runFor(1_000)
    expect(reads.filter((url) => url.includes('/positions/'))).toEqual([])
    await page.getByRole('link', { name: 'Events', exact: true }).click()
    const closed = rows.filter({ hasText: 'Trade closed' })
    await closed.getByRole('link', { name: 'Trade' }).click()
    await page.getByRole('heading', { name: 'Entry and exit' }).waitFor()
  })

  it('goes on following after the log could not be read, and misses nothing on the way', async () => {
    const page = await open('events?types=order.cancelled')
    await page.getByText('No event that matches the filters was recorded.').waitFor()
    await page.route('**/api/v1/events?*', (route) => route.fulfill({ status: 503 }))
    await page.getByRole('link', { name: 'Trades', exact: true }).click()
    await page.goBack()
    await page.getByText('Events are not followed: The service does not answer.').waitFor()
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
    await page.getByText('S3001').waitFor()
    await answer(older, eventsTo(2_000, 50))
    await page.getByText('1,051 events shown').waitFor()
    expect(await page.getByText('Show 50 older').count()).toBe(0)
    coming.push(...eventsTo(3_002, 1))
    await page.getByText('S3002').waitFor()
    await page.getByText('Show 50 older').waitFor()
  })

  it('follows an empty log from its beginning', async () => {
    const page = await browser.open(`${service.apiUrl}/console/events`)
    const stream = page.waitForRequest('**/events/stream*')
    await signInAs(page, 'watcher')
    expect(new URL((await stream).url()).searchParams.get('after')).toBe(`evt_${'0'.repeat(20)}`)
    await page.getByText('live', { exact: true }).waitFor()
  })

  it('shows what a key may read and do, and says why the rest is not there', async () => {
    const page = await open('events', 'watcher')
    await page
      .getByText('“Order rejected”, “Order expired”: it needs the scope trading:read.')
      .waitFor()
    await expect.poll(() => page.getByRole('checkbox').count()).toBe(2)
    await page.getByText('Nothing was recorded in the time for which events are kept.').waitFor()
    await page.getByText('While this page is open, accounts of MetaTrader').waitFor()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('No webhook is registered').waitFor()
    await page
      .getByText('This key may not change this: it needs the scope webhooks:write')
      .waitFor()
    expect(await page.getByRole('button', { name: 'Create webhook' }).count()).toBe(0)
    const filtered = await open('events?types=order.expired')
    await filtered.getByText('No event that matches the filters was recorded.').waitFor()
    await filtered.getByText('is not watched for these types alone').waitFor()
    const other = await open('webhooks', 'stranger')
    await other.getByText('it needs the scope webhooks:read').waitFor()
  })
})
