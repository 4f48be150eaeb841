// How names are resolved: at a name server of the test, and by the system.
import dgram from 'node:dgram'
import { once } from 'node:events'
import { decode, encode } from 'dns-packet'
import { describe, expect, it } from 'vitest'
import { createWebhookSender } from '../src/index.ts'
import { resolveByDns, askDnsThenSystem, askSystem } from '../src/names.ts'
import { deliveryTo, loopback } from './support/delivery.ts'

interface Zone {
  readonly A: readonly string[]
  /** Undefined: the server fails. */
  readonly AAAA: readonly string[] | undefined
}

/** A server for hooks.example.com; other names do not exist. */
const startNameServer = async (zone: Zone) => {
  const queries: string[] = []
  const server = dgram.createSocket('udp4', (message, { port, address }) => {
    const { id = 0, questions = [] } = decode(message)
    const isKnown = questions[0]?.name === 'hooks.example.com'
    const isFailing = questions[0]?.type === 'AAAA' && zone.AAAA === undefined
    const answers = questions.flatMap(({ name, type }) => {
      queries.push(`${type} ${name}`)
      if (!isKnown || (type !== 'A' && type !== 'AAAA')) return []
      return (zone[type] ?? []).map((data) => ({ name, type, ttl: 0, data }))
    })
    const flags = isFailing ? 2 : isKnown ? 0 : 3
    server.send(encode({ type: 'response', id, flags, questions, answers }), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    queries,
    ask: resolveByDns([`127.0.0.1:${server.address().port}`]),
    [Symbol.dispose]: () => void server.close(),
  }
}

describe('a name that DNS resolves', () => {
  it.each([
    { A: ['8.8.8.8', '127.0.0.1'], AAAA: ['2600::1'] },
    { A: ['8.8.8.8'], AAAA: [] },
    { A: ['8.8.8.8'], AAAA: undefined },
    { A: [], AAAA: ['::1'] },
    { A: [], AAAA: [] },
  ])('has all the addresses of both families: %j', async (zone) => {
    using server = await startNameServer(zone)
    const found = await server.ask('hooks.example.com')
    expect(found.toSorted()).toEqual([...zone.A, ...(zone.AAAA ?? [])].toSorted())
    // Without the search domains of this machine.
    expect(new Set(server.queries)).toEqual(
      new Set(['A hooks.example.com', 'AAAA hooks.example.com']),
    )
  })

  it('has no address if it does not exist', async () => {
    using server = await startNameServer({ A: ['8.8.8.8'], AAAA: [] })
    expect(await server.ask('elsewhere.example.com')).toEqual([])
  })

  it('has no address if no name can be so long', async () => {
    const longLabel = `${'a'.repeat(64)}.com`
    const longName = `${'a.'.repeat(200)}com`
    for (const ask of [resolveByDns(), askSystem])
      for (const name of [longLabel, longName]) expect(await ask(name)).toEqual([])
  })

  it('is not known to have none where no name server answers', async () => {
    const server = await startNameServer({ A: [], AAAA: [] })
    server[Symbol.dispose]()
    await expect(server.ask('hooks.example.com')).rejects.toThrow('ECONNREFUSED')
  })
})

it('the system resolves its own names', async () => {
  const addresses = await askDnsThenSystem()('localhost')
  expect(addresses.length).toBeGreaterThan(0)
  expect(addresses.every(loopback.allowsAddress)).toBe(true)
})

it.each([
  ['hooks.example.com', ['192.0.2.1'], ['dns']],
  ['unknown.example.com', ['10.0.0.1'], ['dns', 'system']],
  ['hooks.internal', ['10.0.0.1'], ['system']],
])('with own networks %s has %j, found by %j', async (name, addresses, wanted) => {
  const asked: string[] = []
  const resolve = askDnsThenSystem(
    async (of) => {
      asked.push('dns')
      return of === 'hooks.example.com' ? ['192.0.2.1'] : []
    },
    async () => {
      asked.push('system')
      return ['10.0.0.1']
    },
  )
  expect([await resolve(name), asked]).toEqual([addresses, wanted])
})

it('the system is asked for one name after another, whether it finds them or fails', async () => {
  const asked: PromiseWithResolvers<string[]>[] = []
  const resolve = askDnsThenSystem(undefined, () => {
    asked.push(Promise.withResolvers())
    return asked.at(-1)!.promise
  })
  const [first, second] = [resolve('a.internal'), resolve('b.internal')]
  await expect.poll(() => asked.length).toBe(1)
  asked[0]?.reject(new Error('EAI_AGAIN'))
  await expect(first).rejects.toThrow('EAI_AGAIN')
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.resolve(['10.0.0.1'])
  expect(await second).toEqual(['10.0.0.1'])
})

it('a delivery whose name takes too long times out, and sends nothing', async () => {
  const sender = createWebhookSender({
    reach: loopback,
    resolveName: () => new Promise(() => undefined),
    deadlineMs: 100,
  })
  expect(await sender.send(deliveryTo('https://hooks.example.com/'))()).toEqual({
    responseCode: 0,
    responseTimeMs: 0,
    failureReason: 'timed_out',
  })
})
