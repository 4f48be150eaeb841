import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOf,
  hostIssues,
  isLocalName,
  maxWebhookUrlLength,
  parseWebhookUrl,
  requireReachable,
  webhookUrlTakes,
} from '../../src/webhooks/webhook-url.ts'
import type { WebhookReach, WebhookUrl } from '../../src/webhooks/webhook-url.ts'

const longest = `https://example.com/${'x'.repeat(2_048 - 'https://example.com/'.length)}`

describe('a webhook’s URL', () => {
  it.each([
    'https://example.com',
    'https://example.com/',
    'https://EXAMPLE.com:8443/a/b?c=d&e=%20',
    'https://example.com/@me?to=a@b',
    'https://example.com?a=b',
    'https://münchen.example/straße',
    'https://[2600::1]/x',
    'https://8.8.8.8/',
    longest,
    // Code points are counted, not halves of them.
    longest.replace(/x{9}$/, '𝄞'.repeat(9)),
  ])('is taken as it is written: %s', (text) => {
    expect(parseWebhookUrl(text)).toStrictEqual(O.some(text))
  })

  it.each([
    '',
    'example.com',
    'http://example.com/',
    'ftp://example.com/',
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
    'https://example.com/#fragment',
    'https://example.com/#',
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

  it('is at most as long as callers are told', () => {
    expect(webhookUrlTakes).toMatch(
      /^an https:\/\/ URL of at most 2,048 characters, without user name, password, fragment/,
    )
    expect(webhookUrlTakes).toContain(` ${maxWebhookUrlLength.toLocaleString('en-US')} characters`)
  })

  it('is never read otherwise than it is written: what is taken names its host after the scheme, and nobody’s password', () => {
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
      { numRuns: 2_000 },
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
    ['https://localhost/', null],
  ])('of %s is the address %s', (url, address) => {
    expect(addressOf(new URL(url))).toBe(address)
  })

  it.each([
    'localhost',
    'LOCALHOST.',
    'intranet',
    'a.localhost',
    'printer.local',
    'x.internal',
    'metadata.google.internal.',
    'box.lan',
    'nas.home.arpa',
  ])('is a local name: %s', (name) => {
    expect(isLocalName(name)).toBe(true)
  })

  it.each([
    'example.com',
    'local.example',
    'localhost.example.com',
    'a.home.example',
    'internal.example.com',
    'mylan.org',
  ])('is no local name: %s', (name) => {
    expect(isLocalName(name)).toBe(false)
  })
})

const isTaken = (reach: WebhookReach, url: string) =>
  E.isRight(requireReachable(reach)(url as WebhookUrl))

describe('whether a URL alone shows that its host may not be reached', () => {
  const none: WebhookReach = {
    allowsAddress: (address) => address === '8.8.8.8',
    allowsLocalNames: false,
  }
  const own: WebhookReach = {
    allowsAddress: (address) => address === '8.8.8.8' || address === '::1',
    allowsLocalNames: true,
  }

  it('refuses addresses that are not allowed and local names, with a word on what to do', () => {
    expect(requireReachable(none)('https://10.0.0.1/token' as WebhookUrl)).toStrictEqual(
      E.left({
        _tag: 'ValidationError',
        issues: [
          {
            path: 'url',
            message:
              'url must have a host on the public internet; the address of its host is not on it. Send the public name of the receiver',
          },
        ],
      }),
    )
    expect(requireReachable(none)('https://localhost/' as WebhookUrl)).toMatchObject({
      left: {
        issues: [
          {
            path: 'url',
            message:
              'url must have a host on the public internet; its host is a local name. Send the public name of the receiver',
          },
        ],
      },
    })
    expect(isTaken(none, 'https://[::1]/')).toBe(false)
    expect(isTaken(none, 'https://box.internal:8443/')).toBe(false)
  })

  it('says nothing of what has not the form of a URL, which is another fault', () => {
    for (const text of [undefined, null, 7, '', 'http://127.0.0.1/', 'https://me@127.0.0.1/'])
      expect(hostIssues(none)(text)).toStrictEqual([])
    expect(hostIssues(none)('https://127.0.0.1/')).toHaveLength(1)
  })

  it('takes public addresses, and names whatever they lead to', () => {
    expect(isTaken(none, 'https://8.8.8.8/')).toBe(true)
    expect(
      isTaken({ ...none, allowsAddress: (address) => address === '2600::1' }, 'https://[2600::1]/'),
    ).toBe(true)
    expect(isTaken(none, 'https://example.com/')).toBe(true)
  })

  it('takes addresses in the operator’s own networks and any local name where some are open', () => {
    expect(isTaken(own, 'https://[::1]/')).toBe(true)
    expect(isTaken(own, 'https://localhost/')).toBe(true)
    expect(isTaken(own, 'https://10.0.0.1/')).toBe(false)
  })
})
