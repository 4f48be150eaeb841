// Where a request comes from behind proxies, which a caller cannot forge, and from where a
// credential may be used.
import type { IncomingMessage } from 'node:http'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Networks, parseNetworks } from '../src/index.ts'
import { callerAddress, isAllowedFrom } from '../src/networks.ts'

const trusting = (...entries: readonly string[]): Networks => {
  const trusted = parseNetworks(entries)
  if (trusted === undefined) throw new Error('these are not networks')
  return trusted
}
const noTrustedProxies = trusting()

const addressOf = (
  trusted: Networks,
  peer: string | undefined,
  forwarded?: string,
): string | undefined =>
  callerAddress(trusted, {
    socket: { remoteAddress: peer },
    headers: { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage)

const proxies = trusting('10.0.0.0/8', '192.0.2.1', 'fd00::/8')

describe('the address of a caller', () => {
  it.each([
    // Called directly, whatever the caller claims.
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    // Through one proxy.
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['fd00::1', '2001:db8::9', '2001:db8::9'],
    // What the caller wrote is to the left of what the proxy adds.
    ['10.0.0.1', '127.0.0.1, 10.9.9.9, 203.0.113.9', '203.0.113.9'],
    // Through several, in any notation.
    ['10.0.0.1', '127.0.0.1, 203.0.113.9, 10.0.0.2, 192.0.2.1', '203.0.113.9'],
    ['10.0.0.1', '127.0.0.1, ::ffff:203.0.113.9', '::ffff:203.0.113.9'],
    ['10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['10.0.0.1', '127.0.0.1, [2001:DB8::9]:4711, 10.0.0.2:80', '2001:DB8::9'],
    // Only proxies: the first of them.
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    // An entry that cannot be read ends the walk at the proxy that wrote it; nothing vouches for
    // what is further left.
    ['10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, 012.0.0.2', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, fe80::1%eth0', '10.0.0.1'],
  ])('of a request from %s that forwards for "%s" is %s', (peer, forwarded, caller) => {
    expect(addressOf(proxies, peer, forwarded)).toBe(caller)
  })

  it('is that of the connection where no proxy is trusted', () => {
    expect(addressOf(noTrustedProxies, '10.0.0.1', '203.0.113.9')).toBe('10.0.0.1')
    expect(addressOf(noTrustedProxies, undefined, '203.0.113.9')).toBeUndefined()
    expect(addressOf(proxies, undefined, '203.0.113.9')).toBeUndefined()
  })

  it('is the one that the proxy wrote, whatever the caller wrote before it', () => {
    const written = fc.oneof(
      fc.string(),
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom('10.0.0.1', '127.0.0.1', 'fd00::1', '::ffff:10.0.0.1'),
    )
    fc.assert(
      fc.property(fc.array(written), fc.ipV4(), (claims, caller) => {
        fc.pre(!caller.startsWith('10.') && caller !== '192.0.2.1')
        expect(addressOf(proxies, '10.0.0.1', [...claims, caller].join(', '))).toBe(caller)
        expect(addressOf(proxies, caller, claims.join(', '))).toBe(caller)
      }),
    )
  })
})

it.each([
  ...['127.0.0.1/32', '::1', '10.9.9.9/8', '2001:db8::/32'].map((entry) => [true, entry] as const),
  ...[
    '10.0.0.0/33',
    '::1/129',
    '::ffff:10.0.0.0/95',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '127.1',
    '012.0.0.1',
    '',
    'fe80::1%eth0',
    'proxy.internal',
  ].map((entry) => [false, entry] as const),
])('it is %s that %j is a network', (isRead, entry) => {
  expect([
    parseNetworks([entry]) !== undefined,
    parseNetworks(['10.0.0.0/8', entry]) !== undefined,
  ]).toEqual([isRead, isRead])
})

describe('the allowlist of a credential', () => {
  it.each([
    [[], '203.0.113.9', true],
    [[], undefined, true],
    [['203.0.113.9'], '::ffff:203.0.113.9', true],
    [['::ffff:203.0.113.9'], '203.0.113.9', true],
    [['203.0.113.0/24'], '203.0.113.255', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['::/0'], '203.0.113.9', false],
    [['::ffff:10.0.0.0/104'], '10.9.9.9', true],
    [['::ffff:10.0.0.0/104'], '11.0.0.1', false],
    [['2001:db8::/32'], '2001:DB8:1::1', true],
    [['not an address'], '203.0.113.9', false],
    [['203.0.113.9'], undefined, false],
    [['bad', '203.0.113.9'], '203.0.113.9', true],
  ])('%j and a caller at %s: %s', (allowlist, address, isAllowed) => {
    expect(isAllowedFrom(allowlist, address)).toBe(isAllowed)
  })
})
