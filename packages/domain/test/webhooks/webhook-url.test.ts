import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOf,
  hostFault,
  isLocalName,
  isLoopback,
  parseWebhookUrl,
  type WebhookReach,
  type WebhookUrl,
} from '../../src/webhooks/webhook-url.ts'

const longest = `https://example.com/${'x'.repeat(2_048 - 'https://example.com/'.length)}`

describe('a webhook’s URL', () => {
  it.each([
    'https://example.com',
    'https://EXAMPLE.com:8443/a/b?c=d&e=%20',
    'https://example.com/@me?to=a@b',
    'https://example.com?a=b',
    'https://münchen.example/straße',
    'https://[2600::1]/x',
    'https://8.8.8.8/',
    'http://127.0.0.1:4000/hook',
    'http://127.255.0.9/',
    'http://[::1]:4000',
    'http://localhost:4000/hook?a=b',
    longest,
    // Code points are counted, not halves of them.
    longest.replace(/x{9}$/, '𝄞'.repeat(9)),
  ])('is accepted as it is written: %s', (text) => {
    expect(parseWebhookUrl(text)).toStrictEqual(O.some(text))
  })

  it.each([
    '',
    'example.com',
    'http://example.com/',
    'http://128.0.0.1/',
    'http://127.0.0.1.example.com/',
    'http://a.localhost/',
    'http://[::ffff:127.0.0.1]/',
    'http://0.0.0.0/',
    'http://127.0.0.1@example.com/',
    'http:///127.0.0.1/',
    'ftp://example.com/',
    'https://example..com/',
    'https://.example.com/',
    'HTTPS://example.com/',
    ' https://example.com/',
    'https:/example.com/',
    'https:example.com',
    'https:\\\\example.com/',
    'https://',
    'https:///example.com',
    'https:///user:password@example.com/',
    'https://exa mple.com/',
    'https://example.com/a b',
    'https://example.com/\n',
    'https://example.com/\ta',
    'https://example.com/\0',
    'https://example.com\\@127.0.0.1/',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:password@example.com/',
    'https://@example.com/',
    'https://:@example.com',
    'https://example.com:0/',
    'https://example.com/#fragment',
    'https://example.com/#',
    'ftp://example.com/?https://example.com',
    'https://example.com:65536/',
    'https://1.2.3.4.5/',
    'https://256.256.256.256/',
    'https://[::1/',
    'https://[fe80::1%25eth0]/',
    'https://example.com/\ud800',
    `${longest}x`,
  ])('is refused: %j', (text) => {
    expect(parseWebhookUrl(text)).toStrictEqual(O.none)
  })

  it('names its host right after the scheme, and no password', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('@', ':', '/', '\\', '#', '?', '127.0.0.1', 'a.b', '%2f', '\t'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = `https://${pieces.join('')}`
        if (O.isNone(parseWebhookUrl(text))) return
        const { protocol, username, password, hash, host } = new URL(text)
        expect([protocol, username, password, hash]).toEqual(['https:', '', '', ''])
        expect(host).not.toBe('')
      }),
      { numRuns: 300 },
    )
  })
})

describe('the host of a URL', () => {
  it.each([
    ['https://127.0.0.1/', '127.0.0.1'],
    ['https://2130706433/', '127.0.0.1'],
    ['https://0x7f.1/', '127.0.0.1'],
    ['https://0177.0.0.01/', '127.0.0.1'],
    ['https://１２７。０。０。１/', '127.0.0.1'],
    ['https://127.0.0.1./', '127.0.0.1'],
    ['https://192.168.100.200/', '192.168.100.200'],
    ['https://[::FFFF:127.0.0.1]/', '::ffff:7f00:1'],
    ['https://[0:0:0:0:0:0:0:1]/', '::1'],
    ['https://example.com/', null],
    ['https://127.0.0.1.example.com/', null],
    ['https://a.1.example.com/', null],
    ['https://example1/', null],
    ['https://localhost/', null],
  ])('of %s is the address %s', (url, address) => {
    expect(addressOf(new URL(url))).toBe(address)
  })

  it.each([
    ['::1', true],
    ['[::1]', true],
    ['127.0.0.1', true],
    ['128.0.0.1', false],
    ['localhost.example', false],
  ])('%s is this machine: %s', (host, isOwn) => {
    expect(isLoopback(host)).toBe(isOwn)
  })

  it.each([
    ['localhost', true],
    ['LOCALHOST.', true],
    ['intranet', true],
    ['a.localhost', true],
    ['printer.local', true],
    ['x.internal.', true],
    ['box.lan', true],
    ['nas.home.arpa', true],
    ['example.com', false],
    ['local.example', false],
    ['a.home.example', false],
    ['mylan.org', false],
  ])('%s is a local name: %s', (name, isLocal) => {
    expect(isLocalName(name)).toBe(isLocal)
  })
})

const reach = (allowsLocalNames: boolean, ...addresses: readonly string[]): WebhookReach => ({
  allowsAddress: (address) => addresses.includes(address),
  allowsLocalNames,
  allowsHttpOnLoopback: false,
})
describe('whether a URL alone shows that its host may not be reached', () => {
  const address = 'the address of its host is not on it'
  const name = 'its host is a local name'

  it.each([
    ['https://10.0.0.1/token', reach(false, '8.8.8.8'), address],
    ['https://10.0.0.1/', reach(true, '8.8.8.8', '::1'), address],
    ['https://[::1]/', reach(false, '8.8.8.8'), address],
    ['https://[::1]/', reach(true, '8.8.8.8', '::1'), undefined],
    ['https://8.8.8.8/', reach(false, '8.8.8.8'), undefined],
    ['https://[2600::1]/', reach(false, '2600::1'), undefined],
    ['https://localhost/', reach(false), name],
    ['https://box.internal:8443/', reach(false), name],
    ['https://localhost/', reach(true), undefined],
    ['https://example.com/', reach(false), undefined],
  ])('%s with %o: %s', (url, reach, fault) => {
    expect(hostFault(reach)(url as WebhookUrl)).toBe(
      fault &&
        `must have a host on the public internet; ${fault}. Send the public name of the receiver`,
    )
  })

  it.each(['http://127.0.0.1:4000/', 'http://[::1]/', 'http://localhost/'])(
    'allows %s only where http to this machine is allowed',
    (url) => {
      const [plain, secure] = [url, url.replace('http', 'https')] as WebhookUrl[]
      // Whatever else may be reached.
      const everywhere = reach(true, '127.0.0.1', '::1')
      expect(hostFault(everywhere)(plain!)).toBe('must be an https URL; got http')
      const demo = { ...reach(false), allowsHttpOnLoopback: true }
      expect(hostFault(demo)(plain!)).toBeUndefined()
      expect(hostFault(demo)(secure!)).toBeDefined()
    },
  )
})
