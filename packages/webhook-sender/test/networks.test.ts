// Which addresses are public: each special-purpose block of IANA at both its ends, and their
// neighbours.
import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { createWebhookReach } from '../src/index.ts'

const reach = createWebhookReach([])

describe('an address is refused', () => {
  it.each([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['private', '10.0.0.0', '10.255.255.255'],
    ['carrier', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.0', '127.255.255.255'],
    ['link-local', '169.254.0.0', '169.254.255.255'],
    ['private', '172.16.0.0', '172.31.255.255'],
    ['protocol assignments', '192.0.0.0', '192.0.0.255'],
    ['documentation', '192.0.2.0', '192.0.2.255'],
    ['AS112', '192.31.196.0', '192.31.196.255'],
    ['AMT', '192.52.193.0', '192.52.193.255'],
    ['6to4 relays', '192.88.99.0', '192.88.99.255'],
    ['private', '192.168.0.0', '192.168.255.255'],
    ['AS112', '192.175.48.0', '192.175.48.255'],
    ['benchmark', '198.18.0.0', '198.19.255.255'],
    ['documentation', '198.51.100.0', '198.51.100.255'],
    ['documentation', '203.0.113.0', '203.0.113.255'],
    ['multicast', '224.0.0.0', '239.255.255.255'],
    ['reserved', '240.0.0.0', '255.255.255.254'],
    ['broadcast', '255.255.255.255', '255.255.255.255'],
    ['host agent of a cloud', '168.63.129.16', '168.63.129.16'],
    ['unspecified', '::', '::'],
    ['loopback', '::1', '::1'],
    ['IPv4-compatible', '::7f00:1', '::ffff:ffff'],
    ['IPv4-mapped', '::ffff:0:0', '::ffff:ffff:ffff'],
    ['IPv4-mapped, public', '::ffff:8.8.8.8', '::ffff:808:808'],
    ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
    ['NAT64', '64:ff9b::', '64:ff9b::ffff:ffff'],
    ['NAT64, local', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
    ['dummy', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
    ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['protocol assignments', '2001:1::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['benchmark', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
    ['ORCHID', '2001:10::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['not assigned', '4000::', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['not assigned', '6000::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('that is %s: %s to %s', (_, first, last) => {
    expect([first, last].map(reach.allowsAddress)).toStrictEqual([false, false])
  })

  it.each([
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x8.8.8.8',
    '010.8.8.8',
    '8.8.8',
    '8.8.8.8.',
    ' 8.8.8.8',
    '[2600::1]',
    '2600::1%1',
    '2600::1%eth0',
    'fe80::1%eth0',
    '8.8.8.8/32',
    '2600:::1',
    '2600::1::2',
    '١.١.١.١',
  ])('that is not in a usual notation: %j', (text) => {
    expect(reach.allowsAddress(text)).toBe(false)
  })

  it('in all notations of IPv6 that contain an IPv4 address', () => {
    const octet = fc.nat(255)
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), ([a, b, c, d]) => {
        const words = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
        const spellings = [
          `::${words}`,
          `::ffff:${words}`,
          `::ffff:0:${words}`,
          `64:ff9b::${words}`,
          `64:ff9b:1::${words}`,
          `2002:${words}::1`,
        ]
        expect(spellings.filter(reach.allowsAddress)).toStrictEqual([])
      }),
    )
  })
})

it.each([
  '1.0.0.0',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2000::',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '2600::1',
  '2a00:1450:4001:800::200E',
  '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
])('an address is allowed that is public: %s', (address) => {
  expect(reach.allowsAddress(address)).toBe(true)
})

describe('own networks (WEBHOOK_ALLOWED_NETWORKS)', () => {
  it.each([
    [
      '10.0.0.0/8',
      ['10.0.0.1', '10.255.255.255'],
      ['192.168.0.1', '127.0.0.1', '::ffff:10.0.0.1', 'fd00::1'],
    ],
    ['10.1.2.3/8', ['10.0.0.1'], ['192.168.0.1']],
    ['10.1.2.3/32', ['10.1.2.3'], ['10.1.2.4']],
    ['127.0.0.1/32', ['127.0.0.1'], ['127.0.0.2', '::1', '::ffff:127.0.0.1']],
    ['fd12:3456::/32', ['fd12:3456::1'], ['fd12:3457::1', 'fc00::1']],
    ['::1/128', ['::1', '0:0:0:0:0:0:0:1'], ['::2', '127.0.0.1']],
    ['0.0.0.0/0', ['127.0.0.1', '255.255.255.255'], ['::1', '::ffff:127.0.0.1']],
  ])('%s allow %j and not %j', (network, open, closed) => {
    const own = createWebhookReach([ipaddr.parseCIDR(network)])
    expect(open.filter(own.allowsAddress)).toStrictEqual(open)
    expect(closed.filter(own.allowsAddress)).toStrictEqual([])
    expect(own.allowsAddress('8.8.8.8')).toBe(true)
  })

  it('allow local names', () => {
    expect([
      reach.allowsLocalNames,
      createWebhookReach([ipaddr.parseCIDR('10.0.0.0/8')]).allowsLocalNames,
    ]).toStrictEqual([false, true])
  })
})
