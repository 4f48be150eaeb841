// How names are looked up: at a name server that answers as the test says, and by the system.
import dgram from 'node:dgram'
import { once } from 'node:events'
import { decode, encode } from 'dns-packet'
import { afterEach, describe, expect, it } from 'vitest'
import { createWebhookSender } from '../src/index.ts'
import type { ResolveName } from '../src/index.ts'
import { askDnsAt, askSystem } from '../src/names.ts'
import { deliveryTo, loopback } from './support/delivery.ts'

const patient = new AbortController().signal

interface Zone {
  /** Not answered at all where it is undefined. */
  readonly A?: readonly string[]
  readonly AAAA?: readonly string[]
}

const servers: dgram.Socket[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A server that knows one name, and says of every other that it is not there. */
const startNameServer = async (known: string, zone: Zone) => {
  const asked: string[] = []
  const server = dgram.createSocket('udp4', (message, { port, address }) => {
    const query = decode(message)
    const [question] = query.questions ?? []
    if (question === undefined) return
    const { name, type } = question
    asked.push(`${type} ${name}`)
    const found = type === 'A' || type === 'AAAA' ? zone[type] : []
    if (name === known && found === undefined) return
    const isKnown = name === known
    const answers = isKnown
      ? (found ?? []).map((data) => ({ name, type: type as 'A' | 'AAAA', ttl: 0, data }))
      : []
    server.send(
      encode({
        type: 'response',
        id: query.id ?? 0,
        flags: isKnown ? 0 : 3,
        questions: [question],
        answers,
      }),
      port,
      address,
    )
  })
  servers.push(server)
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  return { asked, ask: askDnsAt([`127.0.0.1:${server.address().port}`]) }
}

describe('a name that is looked up in DNS', () => {
  it.each<readonly [Zone, readonly string[]]>([
    [{ A: ['8.8.8.8', '127.0.0.1'], AAAA: ['2600::1'] }, ['8.8.8.8', '127.0.0.1', '2600::1']],
    [{ A: ['8.8.8.8'], AAAA: [] }, ['8.8.8.8']],
    [{ A: [], AAAA: ['::1'] }, ['::1']],
    [{ A: [], AAAA: [] }, []],
  ])('has of %j all the addresses', async (zone, expected) => {
    const { ask, asked } = await startNameServer('hooks.example.com', zone)
    expect((await ask('hooks.example.com', patient)).toSorted()).toStrictEqual(expected.toSorted())
    // As it is written, without the search domains of this machine.
    expect(asked.toSorted()).toStrictEqual(['A hooks.example.com', 'AAAA hooks.example.com'])
  })

  it('has none where it is not there', async () => {
    const { ask } = await startNameServer('hooks.example.com', {})
    expect(await ask('elsewhere.example.com', patient)).toStrictEqual([])
  })

  it('is given up with the delivery where the server says nothing', async () => {
    const { ask, asked } = await startNameServer('hooks.example.com', {})
    const deadline = new AbortController()
    const answer = ask('hooks.example.com', deadline.signal)
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    deadline.abort()
    expect(await answer).toStrictEqual([])
  })
})

describe('a name that is looked up by the system', () => {
  it('is found where the system has it', async () => {
    const addresses = await askSystem('localhost', patient)
    expect(addresses.length).toBeGreaterThan(0)
    expect(addresses.filter(loopback.allowsAddress)).toStrictEqual(addresses)
  })

  it('is given up with the delivery', async () => {
    const deadline = new AbortController()
    const answer = askSystem('localhost', deadline.signal)
    deadline.abort(new Error('too late'))
    await expect(answer).rejects.toThrow('too late')
  })
})

const resolveName: ResolveName = (_, signal) => once(signal, 'abort').then(() => ['127.0.0.1'])

describe('a delivery whose name takes too long', () => {
  it('times out, with nothing sent', async () => {
    const sender = createWebhookSender({ reach: loopback, resolveName, deadlineMs: 100 })
    const answer = await sender.send(deliveryTo('https://hooks.example.com/'))()
    expect(answer).toStrictEqual({ responseCode: 0, responseTimeMs: 0, failureReason: 'timed_out' })
  })
})
