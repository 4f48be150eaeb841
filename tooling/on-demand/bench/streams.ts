// A thousand streams of events on one instance of the whole service: how soon an event has reached
// all of them, and what they hold in memory. Then the log of one user beside ten million events of
// others of the same tenant.
import { setTimeout as pause } from 'node:timers/promises'
import { linkUsers, startProvider, startService } from '@tradeport/harness'
import { bounded, inTurn, median, msOf, query, timed, type Bench } from './bench.ts'
import { openStream, openStreams, streamsPerKey } from './open-streams.ts'
import { mostMegabytesDuring } from './processes.ts'
import { accountOf, apiKeyOf, plainClient, smallOrder } from './service.ts'

const streams = 1_000
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
const account = accountOf(0)

export const bench: Bench = async ({ stack, newDatabase }) => {
  const databaseUrl = await newDatabase()
  const provider = await startProvider(stack, { accounts: [{ id: account.providerAccountId }] })
  const service = await startService(stack, {
    databaseUrl,
    providerUrl: provider.url,
    environment: { CAPABILITIES: 'events' },
  })
  await linkUsers(service, [{ id: 'bench-0', tenantId: 'bench', accounts: [account], keys }])
  const client = plainClient(service, key)
  const placeOrder = () => client.placeOrder({ accountId: account.id, ...smallOrder })
  const url = `${service.api}/events/stream?types=order.created`

  // What the service needs for its first streams stays when they are gone.
  for (const stream of await openStreams(url, keys.slice(0, 4))) stream.close()
  await placeOrder()
  const before = await mostMegabytesDuring(service.child, pause(restMs))
  const open = await openStreams(url, keys)
  const arriveEverywhere = () => Promise.all(open.map((stream) => stream.receives(1)))
  const { delivered } = await inTurn(
    rounds,
    {
      delivered: () => msOf(() => Promise.all([placeOrder(), arriveEverywhere()])),
      rest: () => pause(1_000),
    },
    0,
  )
  const during = await mostMegabytesDuring(service.child, pause(restMs))
  for (const stream of open) stream.close()

  const types = 'order.created'
  const readings = async () => {
    const { data } = await client.listEvents({ types, limit: readEvents, order: 'desc' })
    return inTurn(
      queries,
      {
        page: () => msOf(() => client.listEvents({ types, limit: readEvents })),
        resumed: async () => {
          const { ms, result } = await timed(async () => {
            const stream = await openStream(`${url}&after=${data.at(-1)?.id}`, key)
            await stream.receives(readEvents - 1)
            return stream
          })
          result.close()
          // The service counts a stream until it sees that its connection is closed.
          await pause(20)
          return ms
        },
      },
      0,
    )
  }
  await addEvents(databaseUrl, 'bench-', 1, ownEvents)
  const alone = await readings()
  await addEvents(databaseUrl, 'other-', 1_000, othersEvents)
  const beside = await readings()
  const besideOthers = (name: string, which: keyof typeof alone) => ({
    name: `${name} beside ${othersEvents} events of others`,
    ours: median(beside[which]),
    reference: median(alone[which]),
    target: 1.2,
    against: `the same without them; medians of ${queries}`,
  })
  return [
    bounded(
      `from the request for an order to its event on ${streams} streams`,
      Math.max(...delivered),
      deliveredWithinMs,
      `the longest of ${rounds}, the median is ${median(delivered).toFixed(0)} ms. The bench, which reads all streams, shares the machine`,
    ),
    {
      ...bounded(
        `what ${streams} open streams add to resident memory`,
        during - before,
        addedBoundMegabytes,
        `the most in ${restMs / 1_000} s with them, less the most in ${restMs / 1_000} s before, which was ${before.toFixed(0)} MB`,
      ),
      unit: 'MB',
    },
    besideOthers(`GET /events of ${readEvents}`, 'page'),
    besideOthers(`a stream resumed ${readEvents} events behind`, 'resumed'),
  ]
}

/** Events of users of the bench's own tenant, each of whose names is the text and a number. */
const addEvents = (databaseUrl: string, user: string, users: number, events: number) =>
  query(
    databaseUrl,
    // Only the bench's own user exists.
    'set session_replication_role = replica',
    `insert into events (tenant_id, id, user_id, key, type, account_id, data)
     select 'bench', 'evt_' || lpad(n::text, 12, '0') || left(md5('${user}'), 16), '${user}' || n % ${users}, 'added-' || n, 'order.created', '${account.id}'::uuid,
       '{"order_id":"ord_0mhk3v9q2c7d1x8p4z6w","symbol":"EURUSD","volume":0.1}' from generate_series(1::bigint, ${events}) n`,
    'vacuum analyze events',
  )
