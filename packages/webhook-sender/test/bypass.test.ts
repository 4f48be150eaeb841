// Attempts to make the service connect to its own inside. Registration refuses what the URL shows,
// a delivery refuses the rest, and a listener on all addresses of this machine sees no connection.
import ipaddr from 'ipaddr.js'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { hostFault, parseWebhookUrl, type WebhookUrl } from '@tradeport/domain/webhooks'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWebhookReach, createWebhookSender, type ResolveName } from '../src/index.ts'
import { deliveryTo } from './support/delivery.ts'

/** The addresses of this machine to which connections were made. */
const visited: (string | undefined)[] = []
const listener = net.createServer((socket) => {
  visited.push(socket.localAddress?.replace('::ffff:', ''))
  socket.destroy()
})
let port: number

beforeAll(async () => {
  listener.listen(0)
  await once(listener, 'listening')
  port = (listener.address() as AddressInfo).port
})
afterAll(() => {
  listener.close()
  // The connection of the one test that may connect.
  expect(visited).toEqual(['127.0.0.1'])
})

const reach = createWebhookReach([])
const isRegistered = (url: string) =>
  O.exists((read: WebhookUrl) => hostFault(reach)(read) === undefined)(parseWebhookUrl(url))

const unsent = (failureReason: string) => ({ responseCode: 0, responseTimeMs: 0, failureReason })
const send = (url: string, resolveName: ResolveName, allowed = reach) =>
  createWebhookSender({ reach: allowed, resolveName, deadlineMs: 5_000 }).send(deliveryTo(url))()

describe('a URL whose host is inside is refused at registration and at delivery', () => {
  it.each([
    // Loopback in all notations.
    '127.0.0.1',
    '127.1',
    '127.255.255.254',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
    '１２７.０.０.１',
    '127。0。0。1',
    '①②⑦.⓪.⓪.①',
    '127.0.0\u00AD.1',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'loc\u00ADalhost',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'ſomething.localhoſt',
    'app.localhost',
    'ip6-localhost',
    '[::1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    // The unspecified address reaches this machine too.
    '0.0.0.0',
    '0',
    '[::]',
    // IPv4 inside IPv6.
    '[::ffff:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    // Other blocks and local names are in networks.test.ts and in the tests of the domain.
    '10.0.0.1',
    '169.254.169.254',
    '0xA9FEA9FE',
    'metadata.google.internal',
    'intranet',
  ])('%s', async (host) => {
    const url = `https://${host}:${port}/`
    expect(URL.canParse(url)).toBe(true)
    expect(isRegistered(url)).toBe(false)
    expect(await send(url, () => expect.fail('it was resolved'))).toEqual(
      unsent('host_not_allowed'),
    )
  })

  it.each([
    'https://example.com@127.0.0.1',
    'https://127.0.0.1\\@example.com',
    'https://example.com\\@127.0.0.1',
    'https:///127.0.0.1',
    'https:127.0.0.1',
    'https:\\\\127.0.0.1',
    'https://\t127.0.0.1',
    'https://127.0.\n0.1',
    ' https://127.0.0.1',
    'http://127.0.0.1',
    'gopher://127.0.0.1',
    'file:///etc/passwd',
  ])('even if the URL hides it: %j', async (start) => {
    const url = start.startsWith('file:') ? start : `${start}:${port}/`
    expect(isRegistered(url)).toBe(false)
    if (URL.canParse(url))
      expect(await send(url, async () => [])).toMatchObject({ responseCode: 0, responseTimeMs: 0 })
  })
})

describe('a name is refused at delivery', () => {
  const url = 'https://hooks.example.com'
  it.each([
    [['127.0.0.1']],
    [['fe80::1%lo']],
    [['not an address']],
    // All addresses must be public.
    [['8.8.8.8', '127.0.0.1']],
    [['127.0.0.1', '8.8.8.8']],
    [['2600::1', '8.8.8.8', '::1']],
  ])('that resolves to %j', async (addresses) => {
    expect(isRegistered(url)).toBe(true)
    expect(await send(`${url}:${port}/`, async () => addresses)).toEqual(unsent('host_not_allowed'))
  })

  it.each([
    ['that has no address', async () => [], 'name_not_found'],
    ['that cannot be looked up', () => Promise.reject(new Error('SERVFAIL')), 'lookup_failed'],
  ])('%s', async (_, resolveName, reason) => {
    expect(await send(`${url}:${port}/`, resolveName)).toEqual(unsent(reason))
  })

  it('is resolved once for each delivery, and connects only to the checked addresses', async () => {
    const answers = ['127.0.0.1', '127.0.0.2']
    const resolveName = async () => [answers.shift() ?? expect.fail('it was resolved again')]
    const own = createWebhookReach([ipaddr.parseCIDR('127.0.0.1/32')])
    await send(`${url}:${port}/`, resolveName, own)
    expect(answers).toEqual(['127.0.0.2'])
    expect(await send(`${url}:${port}/`, resolveName, own)).toEqual(unsent('host_not_allowed'))
  })
})
