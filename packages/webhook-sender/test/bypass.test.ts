// Everything that was ever written to make a service connect to its own inside: refused where the
// URL alone shows it, refused again when it is sent to, and a listener on loopback sees nobody
// come.
import { once } from 'node:events'
import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { parseWebhookUrl, requireReachable } from '@tradeport/domain/webhooks'
import type { WebhookUrl } from '@tradeport/domain/webhooks'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWebhookReach, createWebhookSender } from '../src/index.ts'
import type { ResolveName } from '../src/index.ts'
import { isPeerOneOf } from '../src/post.ts'
import { deliveryTo } from './support/delivery.ts'

const reach = createWebhookReach([])
interface Arrival {
  /** Which of this machine's addresses it came to. */
  readonly at: string | undefined
  readonly fromPort: number | undefined
}

const arrivals: Arrival[] = []
const listener = net.createServer((socket) => {
  arrivals.push({ at: socket.localAddress?.replace('::ffff:', ''), fromPort: socket.remotePort })
  socket.destroy()
})
let port: number

beforeAll(async () => {
  // On every address that this machine has, of both families where it has both.
  listener.listen(0)
  await once(listener, 'listening')
  port = (listener.address() as AddressInfo).port
})
afterAll(() => {
  listener.close()
})

const isRegistered = (url: string): boolean =>
  O.isSome(parseWebhookUrl(url)) && E.isRight(requireReachable(reach)(url as WebhookUrl))

const send = (url: string, resolveName: ResolveName = async () => []) =>
  createWebhookSender({ reach, resolveName, deadlineMs: 5_000 }).send(deliveryTo(url))()

const refused = { responseCode: 0, responseTimeMs: 0, failureReason: 'host_not_allowed' }

/**
 * Where connections came to since this was last asked. Those that are on their way have come before
 * one that is made now.
 */
const visited = async (): Promise<readonly (string | undefined)[]> => {
  const last = net.connect(port, '127.0.0.1')
  last.on('error', () => undefined)
  await once(last, 'connect')
  const { localPort } = last
  const isLast = ({ fromPort }: Arrival): boolean => fromPort === localPort
  await expect.poll(() => arrivals.some(isLast)).toBe(true)
  last.destroy()
  return arrivals.splice(0).flatMap((arrival) => (isLast(arrival) ? [] : [arrival.at]))
}

describe('a host that its URL shows to be inside is refused at registration and when it is sent to', () => {
  it.each([
    // Loopback, in every way to write it.
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '127.255.255.254',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7F.0x0.0x0.0x1',
    '0177.0.0.1',
    '0177.0.0.01',
    '00000177.1',
    '127.0.0.1.',
    '127.0.0.0x1',
    '%31%32%37.0.0.1',
    '127%2e0%2e0%2e1',
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
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::0.0.0.1]',
    // What listens everywhere is reached by the unspecified address too.
    '0.0.0.0',
    '0',
    '0x0',
    '000',
    '[::]',
    '[0:0:0:0:0:0:0:0]',
    // IPv4 inside IPv6.
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:FFFF:7F00:0001]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::127.0.0.1]',
    '[2002:7f00:1::]',
    '[2002:7f00:0001::1]',
    '[2001:0:7f00:1::80ff:fffe]',
    // Networks of one's own, and of one's neighbours.
    '10.0.0.1',
    '10.1',
    '0xa000001',
    '172.16.0.1',
    '172.31.255.254',
    '192.168.0.1',
    '192.168.257',
    '3232235521',
    '100.64.0.1',
    '169.254.0.1',
    '[fc00::1]',
    '[fd12:3456:789a::1]',
    '[fe80::1]',
    '[fec0::1]',
    // Where clouds tell a machine its secrets.
    '169.254.169.254',
    '2852039166',
    '0xA9FEA9FE',
    '0251.0376.0251.0376',
    '169.254.43518',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    'metadata',
    'metadata.google.internal',
    'metadata.google.internal.',
    // The rest of what is not the public internet.
    '198.18.0.1',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '4294967295',
    '[ff02::1]',
    '[100::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    // Names without a place in the public DNS.
    'intranet',
    'printer.local',
    'router.lan',
    'nas.home.arpa',
    'db.internal',
  ])('%s', async (host) => {
    const url = `https://${host}:${port}/`
    // Each is a URL, or it would be no way in.
    expect(URL.canParse(url)).toBe(true)
    expect(isRegistered(url)).toBe(false)
    expect(await send(url, () => expect.fail('it was looked up'))).toStrictEqual(refused)
    expect(await visited()).toStrictEqual([])
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
  ])('also where the URL hides it: %j', async (start) => {
    const url = start.startsWith('file:') ? start : `${start}:${port}/`
    expect(isRegistered(url)).toBe(false)
    // As if it had been stored all the same.
    if (URL.canParse(url))
      expect(await send(url)).toMatchObject({ responseCode: 0, responseTimeMs: 0 })
    expect(await visited()).toStrictEqual([])
  })
})

describe('a name is refused when it is sent to', () => {
  it.each([
    [['127.0.0.1']],
    [['::1']],
    [['0.0.0.0']],
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['100.64.0.1']],
    [['192.168.1.1']],
    [['fd00:ec2::254']],
    [['fe80::1']],
    [['fe80::1%lo']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['2002:7f00:1::']],
    [['224.0.0.1']],
    [['not an address']],
    // One that is public does not make up for one that is not.
    [['8.8.8.8', '127.0.0.1']],
    [['127.0.0.1', '8.8.8.8']],
    [['2600::1', '8.8.8.8', '::1']],
  ])('that leads to %j', async (addresses) => {
    const url = `https://hooks.example.com:${port}/`
    expect(isRegistered(url)).toBe(true)
    expect(await send(url, async () => addresses)).toStrictEqual(refused)
    expect(await visited()).toStrictEqual([])
  })

  it.each(['127.0.0.1.nip.io', 'localtest.me', 'spoofed.burpcollaborator.net'])(
    'whatever it is called: %s',
    async (name) => {
      expect(await send(`https://${name}:${port}/`, async () => ['127.0.0.1'])).toStrictEqual(
        refused,
      )
      expect(await visited()).toStrictEqual([])
    },
  )

  it.each([
    ['that leads nowhere', async () => []],
    ['that cannot be looked up', () => Promise.reject(new Error('SERVFAIL'))],
  ])('%s', async (_, resolveName) => {
    const answer = await send(`https://hooks.example.com:${port}/`, resolveName)
    expect(answer).toStrictEqual({
      responseCode: 0,
      responseTimeMs: 0,
      failureReason: 'name_not_found',
    })
  })
})

const answersInTurn = (...answers: readonly string[]) => {
  let asked = 0
  const resolveName: ResolveName = async () => [
    answers[asked++] ?? expect.fail('it was looked up again'),
  ]
  return { resolveName, asked: () => asked }
}

describe('a name whose answer changes', () => {
  // What may be reached is one address of this machine; what may not, another. The listener is on
  // both.
  const own = createWebhookReach(['127.0.0.1/32'])

  it('between the check and the connection is connected to where the check saw it, and asked for once', async () => {
    const names = answersInTurn('127.0.0.1', '127.0.0.2')
    const sender = createWebhookSender({
      reach: own,
      resolveName: names.resolveName,
      deadlineMs: 5_000,
    })
    await sender.send(deliveryTo(`https://hooks.example.com:${port}/`))()
    expect(await visited()).toStrictEqual(['127.0.0.1'])
    expect(names.asked()).toBe(1)
  })

  it('is refused as soon as it leads inside, and each delivery looks again', async () => {
    const names = answersInTurn('127.0.0.2', '127.0.0.3')
    const sender = createWebhookSender({
      reach: own,
      resolveName: names.resolveName,
      deadlineMs: 5_000,
    })
    for (let sent = 0; sent < 2; sent += 1)
      expect(await sender.send(deliveryTo(`https://hooks.example.com:${port}/`))()).toStrictEqual(
        refused,
      )
    expect([names.asked(), await visited()]).toStrictEqual([2, []])
  })
})

describe('a connection', () => {
  it('is looked at once it stands: one to another address than was checked will not do', async () => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    expect(isPeerOneOf(socket, ['127.0.0.1'])).toBe(true)
    expect(isPeerOneOf(socket, ['8.8.8.8', '::1'])).toBe(false)
    expect(isPeerOneOf({ remoteAddress: undefined }, ['127.0.0.1'])).toBe(false)
    expect(isPeerOneOf({ remoteAddress: '2600:0:0::1' }, ['2600::1'])).toBe(true)
    socket.destroy()
  })
})
