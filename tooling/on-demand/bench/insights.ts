// The capabilities `insights` and `long-histories` through the whole service on a PostgreSQL server:
// what is computed of 20,000 trades, a bootstrap of 5,000, and an account of 200,000 deals.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createDatabase, median, timed, type Bench, type CloseLater, type Ratio } from './bench.ts'
import { accountUuid, apiKeyOf, askApi, linkUsers } from './service.ts'
import { startHistoryProvider, startService, type MeasuredService } from './service.ts'

const key = apiKeyOf('bench')
const holdMeter = new URL('./hold-meter.ts', import.meta.url).href
const rounds = 15
const bootstraps = 5
/** Requests within five seconds of a read do not read again. */
const staleMs = 5_200
const maxHoldMs = 15
const maxLongHoldMs = 50

const openAccount = async (deals: number, server: string, closeLater: CloseLater) => {
  const databaseUrl = await createDatabase(server, closeLater)
  const providerUrl = await startHistoryProvider(['long'], closeLater, deals)
  const start = () =>
    startService(
      {
        databaseUrl,
        providerUrl,
        nodeOptions: ['--import', holdMeter],
        environment: { CAPABILITIES: 'insights,long-histories' },
      },
      closeLater,
    )
  const service = await start()
  const account = { id: accountUuid(0), providerAccountId: 'long' }
  await linkUsers(service, [{ id: 'bench', accounts: [account], keys: [key] }])
  const readTrades = (by = service) => ask(by, 'trades?limit=100')
  await longestHold(service)
  const first = (await timed(() => readTrades())).ms
  const firstHold = await longestHold(service)
  const later: number[] = []
  for (let round = 0; round < 3; round += 1) {
    await pause(staleMs)
    later.push((await timed(() => readTrades())).ms)
  }
  return { service, first, firstHold, later: median(later), laterHold: await longestHold(service) }
}

export const insightsBench: Bench = {
  name: 'insights',
  needsServer: true,
  run: async (server, closeLater) => {
    const { service } = await openAccount(40_000, server, closeLater)
    const ratios: Ratio[] = []
    for (const [name, path] of [
      ['the curve', 'trades/curve?points=500'],
      ['the breakdown by hour in Berlin', 'trades/breakdown?by=hour&timeZone=Europe/Berlin'],
      ['the further statistics', 'trades/stats?extended=true'],
    ] as const) {
      const times: number[] = []
      await longestHold(service)
      for (let round = 0; round < rounds; round += 1) {
        await ask(service, 'trades?limit=1')
        times.push((await timed(() => ask(service, path))).ms)
      }
      ratios.push(
        against(`${name} of 20,000 trades`, median(times), 40, 'the bound, as the client sees it'),
        against(`how long ${name} holds other requests`, await longestHold(service), maxHoldMs),
      )
    }
    const small = await openAccount(10_000, server, closeLater)
    const times: number[] = []
    await longestHold(small.service)
    for (let round = 0; round < bootstraps; round += 1)
      times.push((await timed(() => ask(small.service, 'trades/robust?resamples=10000'))).ms)
    ratios.push(
      against('10,000 resamples of 5,000 trades', median(times), 1_500, 'the bound'),
      against('how long they hold other requests', await longestHold(small.service), maxHoldMs),
    )
    const short = await openAccount(20_000, server, closeLater)
    const long = await openAccount(200_000, server, closeLater)
    for (const path of ['curve', 'stats', 'breakdown?by=symbol'])
      await ask(long.service, `trades/${path}`)
    const computingHold = await longestHold(long.service)
    return [
      ...ratios,
      against(
        'first read of 200,000 deals',
        long.first,
        10 * short.first,
        'ten times that of 20,000',
      ),
      against('how long it holds other requests', long.firstHold, maxHoldMs),
      {
        ...against('a later read of 200,000 deals', long.later, short.later, 'that of 20,000'),
        target: 1.5,
      },
      against('how long a later read holds other requests', long.laterHold, maxHoldMs),
      against(
        'how long figures of 100,000 trades hold other requests',
        computingHold,
        maxLongHoldMs,
      ),
    ]
  },
}

const against = (name: string, ours: number, reference: number, what = 'the bound'): Ratio => ({
  name,
  ours,
  reference,
  target: 1,
  against: what,
})

const ask = (service: MeasuredService, path: string): Promise<unknown> => askApi(service, key, path)

/** The processor time of the longest turn of the event loop since the last call. */
const longestHold = async ({ child }: MeasuredService): Promise<number> => {
  const answer = once(child, 'message')
  child.send('holds')
  const [processorMs] = (await answer) as [number]
  return processorMs
}
