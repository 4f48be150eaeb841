// A thousand streams of events on one instance of the whole service: how soon an event has reached
// all of them, and what they hold in memory. Then the log of one user beside ten million events of
// others of the same tenant.
import { get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import { createDatabase, median, timed, withClient, type Bench } from './bench.ts'
import { mostMegabytesDuring } from './processes.ts'
import { accountUuid, apiKeyOf, askApi, linkUsers } from './service.ts'
import { providerToken, startService, type MeasuredService } from './service.ts'

const streams = 1_000
const streamsPerKey = 5
const rounds = 5
const deliveredWithinMs = 500
const addedBoundMegabytes = 60
const restMs = 10_000
const queries = 40
const ownEvents = 2_000
const readEvents = 100
const othersEvents = 10_000_000
const keys = Array.from({ length: streams / streamsPerKey }, (_, n) => apiKeyOf(`bench-${n}`))
const [key = ''] = keys
const accountId = accountUuid(0)

export const streamsBench: Bench = {
  name: 'streams',
  needsServer: true,
  run: async (server, closeLater) => {
    const databaseUrl = await createDatabase(server, closeLater)
    const accounts = [{ id: accountId, providerAccountId: 'bench' }]
    const sandbox = await startSandbox({ tokens: [providerToken], accounts: [{ id: 'bench' }] })
    closeLater(sandbox.close)
    const service = await startService(
      { databaseUrl, providerUrl: sandbox.url, environment: { CAPABILITIES: 'events' } },
      closeLater,
    )
    await linkUsers(service, [{ id: 'bench-0', tenantId: 'bench', accounts, keys }])

    // What the service needs for its first streams stays when they are gone.
    for (const stream of await openStreams(service, keys.slice(0, 4))) stream.close()
    await placeOrder(service)
    const before = await mostMegabytesDuring(service.child, pause(restMs))
    const open = await openStreams(service, keys)
    const delivered: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const arrivals = Promise.all(open.map((stream) => stream.receives(1)))
      const placed = timed(() => Promise.all([placeOrder(service), arrivals]))
      delivered.push((await placed).ms)
      await pause(1_000)
    }
    const during = await mostMegabytesDuring(service.child, pause(restMs))
    for (const stream of open) stream.close()

    await addEvents(databaseUrl, { user: 'bench-', users: 1, events: ownEvents })
    const alone = await readings(service)
    await addEvents(databaseUrl, { user: 'other-', users: 1_000, events: othersEvents })
    const beside = await readings(service)
    const besideOthers = (name: string, which: keyof typeof alone) => ({
      name: `${name} beside ${othersEvents} events of others`,
      ours: beside[which],
      reference: alone[which],
      target: 1.2,
      against: `the same without them; medians of ${queries}`,
    })
    return [
      {
        name: `from the request for an order to its event on ${streams} streams`,
        ours: Math.max(...delivered),
        reference: deliveredWithinMs,
        target: 1,
        against: `the bound; the longest of ${rounds}, the median is ${median(delivered).toFixed(0)} ms. The bench, which reads all streams, shares the machine`,
      },
      {
        name: `what ${streams} open streams add to resident memory`,
        ours: during - before,
        reference: addedBoundMegabytes,
        unit: 'MB',
        target: 1,
        against: `the bound; the most in ${restMs / 1_000} s with them, less the most in ${restMs / 1_000} s before, which was ${before.toFixed(0)} MB`,
      },
      besideOthers(`GET /events of ${readEvents}`, 'page'),
      besideOthers(`a stream resumed ${readEvents} events behind`, 'resumed'),
    ]
  },
}

interface Stream {
  /** Resolves when so many events have arrived beyond those that were waited for before. */
  readonly receives: (count: number) => Promise<void>
  readonly close: () => void
}

const dataField = '\ndata: '

const openStream = (service: MeasuredService, credential: string, after = ''): Promise<Stream> =>
  new Promise((resolve, reject) => {
    const url = `${service.api}/api/v1/events/stream?types=order.created${after}`
    const request = get(url, { agent: false, headers: { 'X-API-Key': credential } }, (response) => {
      if (response.statusCode !== 200)
        return reject(new Error(`a stream was answered ${response.statusCode}`))
      let arrived = 0
      let expected = 0
      let rest = ''
      let end = (): void => undefined
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const text = rest + chunk
        arrived += text.split(dataField).length - 1
        rest = text.slice(1 - dataField.length)
        if (arrived >= expected) end()
      })
      response.on('error', () => undefined)
      return resolve({
        receives: (count) =>
          new Promise((received) => {
            expected += count
            end = received
            if (arrived >= expected) received()
          }),
        close: () => request.destroy(),
      })
    })
    request.on('error', reject)
  })

const openStreams = async (
  service: MeasuredService,
  credentials: readonly string[],
): Promise<readonly Stream[]> => {
  const all: Stream[] = []
  for (const credential of credentials)
    all.push(
      ...(await Promise.all(
        Array.from({ length: streamsPerKey }, () => openStream(service, credential)),
      )),
    )
  return all
}

const placeOrder = async (service: MeasuredService): Promise<void> => {
  const order = { symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.01 }
  await askApi(service, key, 'orders', { accountId, ...order })
}

const readings = async (service: MeasuredService) => {
  const page = `events?types=order.created&limit=${readEvents}`
  const latest = `${page}&order=desc`
  const { data } = await askApi<{ data: readonly { id: string }[] }>(service, key, latest)
  const after = `&after=${data.at(-1)?.id}`
  const pages: number[] = []
  const resumed: number[] = []
  for (let index = 0; index < queries; index += 1) {
    pages.push((await timed(() => askApi(service, key, page))).ms)
    const { ms, result } = await timed(async () => {
      const stream = await openStream(service, key, after)
      await stream.receives(readEvents - 1)
      return stream
    })
    resumed.push(ms)
    result.close()
    // The service counts a stream until it sees that its connection is closed.
    await pause(20)
  }
  return { page: median(pages), resumed: median(resumed) }
}

/** Events of users of the bench's own tenant, each of whose names is the text and a number. */
const addEvents = (
  databaseUrl: string,
  { user, users, events }: { user: string; users: number; events: number },
): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    // Only the bench's own user exists.
    await client.query('set session_replication_role = replica')
    await client.query(
      `insert into events (tenant_id, user_id, key, type, account_id, data, occurred_at)
       select 'bench', $1::text || n % $2::int, 'added-' || n, 'order.created', $3::uuid,
         '{"order_id":"ord_0mhk3v9q2c7d1x8p4z6w","symbol":"EURUSD","volume":0.1}', now() from generate_series(1::bigint, $4::bigint) n`,
      [user, users, accountId, events],
    )
    await client.query('vacuum analyze events')
  })
