// Places orders through the real use cases on several processes, over the fakes of stores and
// broker, while faults that a seed draws happen to all of them; then compares what was recorded
// with what truly became of each order. No real time passes: a seed repeats a run, event by event.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { requireBrokerAccount, type Account, type BrokerAccount } from '../../src/accounts/index.ts'
import { refuse } from '../../src/errors.ts'
import { brokerClientId, type OrderId } from '../../src/orders/index.ts'
import {
  withoutKey,
  type AcquireSlot,
  type NewOrder,
  type OrderJob,
  type PositionTrading,
  type Journal,
} from '../../src/ports/index.ts'
import {
  hourMs,
  minuteMs,
  secondMs,
  type AccountId,
  type Owner,
  type TenantId,
  type UserId,
} from '../../src/primitives/index.ts'
import {
  createHalts,
  createCancelWhereHalted,
  createOpenOrders,
  followOpenOrders,
  checkAndRecordOrder,
  processOrder,
  symbolAsWritten,
} from '../../src/use-cases/index.ts'
import { createFakeBroker, newAccount, type OrderRow, times } from '@tradeport/testkit'
import { createSimulatedBroker } from './simulated-broker.ts'
import { createSimulatedDatabase, statusOf } from './simulated-database.ts'
import { createLife, createSimulatedLocks, createWorld, type Life } from './simulated-time.ts'

export interface OrderSimulation {
  readonly seed: number
  /** 3 when left out. */
  readonly orders?: number
  /** 2 when left out. */
  readonly processes?: number
  /**
   * Whether a refreshed lookup shows what the broker executed, as the proof that an order was not
   * executed supposes; true when left out. If not, an order may be rejected as not found that was
   * executed, but must then be corrected within hours.
   */
  readonly refreshShowsTruth?: boolean
  /**
   * The share of limit orders, which are changed, cancelled and watched as well, while accounts are
   * halted; 0 when left out.
   */
  readonly pendingShare?: number
}

interface OrderSimulationResult {
  readonly violations: readonly string[]
  /** What happened, each with its time. */
  readonly history: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

const placedWithinMs = minuteMs
const faultsEndAtMs = 12 * minuteMs
/** When a change is answered at the latest, and some time for the database. */
const changedWithinMs = 26 * secondMs
/**
 * Five lookups a minute apart prove absence; after an hour, by a clock that may be an hour fast,
 * they are 15 minutes apart.
 */
const decidedWithinMs = 80 * minuteMs
/**
 * For what still happens to orders that are decided, and for the hourly lookups of those that were
 * not found.
 */
const afterwardsMs = 3 * hourMs
const startedAt = Date.parse('2026-01-05T12:00:00.000Z')
const pollMs = 2 * secondMs
const watchMs = 10 * secondMs

const owner: Owner = { tenantId: 'tenant' as TenantId, userId: 'user' as UserId }

const linkedAccount = (index: number, isConfirmed: boolean): Account => ({
  ...newAccount(owner, {
    tradeMode: isConfirmed ? 'demo' : null,
    provider: { providerAccountId: `provider-${index}`, region: null },
  }),
  id: `00000000-0000-4000-8000-00000000000${index}` as AccountId,
})

type Result = E.Either<{ readonly _tag: string }, unknown>

const tagOf = (result: Result) => (E.isLeft(result) ? result.left._tag : 'done')

export const simulateOrders = async (
  simulation: OrderSimulation,
): Promise<OrderSimulationResult> => {
  const {
    seed,
    orders = 3,
    processes: processCount = 2,
    refreshShowsTruth = true,
    pendingShare = 0,
  } = simulation
  const locks = createSimulatedLocks()
  const world = createWorld(seed, faultsEndAtMs)
  const { random, timeline, strikes, delayMs, counts } = world
  const violations: string[] = []
  const madeAtMs = new Map<string, number>()
  const corrected = new Set<string>()
  const reopened = new Set<string>()
  let modified = 0

  const violated = (law: string) => {
    violations.push(law)
    timeline.note(`VIOLATION  ${law}`)
  }

  const accounts = times(2, (index) => linkedAccount(index, random.chance(0.7)))

  // --- what happens from outside, while something is read or written ---

  const disturb = () => {
    const { id } = random.pick(accounts)
    const account = database.account(id)
    if (account !== undefined && strikes('relink', 0.02)) {
      const provider = { providerAccountId: `provider-${random.whole(0, 3)}`, region: null }
      timeline.note(`operator   links account ${id.at(-1)} to ${provider.providerAccountId}`)
      database.putAccount({ ...account, provider })
    }
    if (strikes('removal', 0.003) && database.removeAccount(id))
      timeline.note(`operator   removes account ${id.at(-1)}`)
    if (strikes('failover', 0.003)) database.failOver()
  }

  const broker = createSimulatedBroker(world, {
    madeAtMs: (clientId) => madeAtMs.get(clientId) ?? 0,
    refreshShowsTruth,
    violated,
  })
  const database = createSimulatedDatabase(world, {
    scheduled: (inMs) => {
      for (const { poll } of processes) timeline.schedule(inMs + random.whole(0, pollMs), poll)
    },
    sendRecorded: (life, { id }, isHalted) => {
      const clientId = brokerClientId(id)
      broker.expectSend(life, clientId)
      if (isHalted) violated(`${clientId} is stored as sending after its account was halted`)
      if (strikes('failover', 0.2)) timeline.schedule(delayMs(20 * secondMs), database.failOver)
    },
    disturb,
    corrected: ({ id, status }, before) => {
      if (before !== 'rejected') reopened.add(brokerClientId(id))
      else if (status !== 'rejected') corrected.add(brokerClientId(id))
    },
  })

  const checkCancelled = (life: Life, id: OrderId, result: Result) => {
    const clientId = brokerClientId(id)
    timeline.note(`${life.id}  ${clientId} is cancelled: ${tagOf(result)}`)
    if (E.isRight(result) && ['open', 'filled'].includes(broker.truthOf(clientId).status))
      violated(`${clientId} was answered as cancelled, and is not`)
  }

  // --- a process: places orders, and processes those that are due ---

  const startProcess = (name: string) => {
    const wrongByMs = () =>
      random.pick([0, random.whole(-hourMs, hourMs), random.whole(-minuteMs, minuteMs)])
    let wallOffsetMs = strikes('clock_step', 0.3) ? wrongByMs() : random.whole(-secondMs, secondMs)
    let lives = 0
    let life: Life
    let ports: ReturnType<typeof portsOf>
    let processJob: ReturnType<typeof processOrder>
    let openOrders: ReturnType<typeof createOpenOrders>
    let halts: ReturnType<typeof createHalts>
    let startedAtMs = 0
    let isPolling = false
    let isPollScheduled = false
    const inProgress = new Set<string>()

    const start = () => {
      lives += 1
      startedAtMs = timeline.now()
      isPolling = false
      inProgress.clear()
      life = createLife(timeline, `${name}.${lives}`, () =>
        timeline.schedule(delayMs(minuteMs), start),
      )
      ports = portsOf(life)
      openOrders = createOpenOrders(ports)
      const cancelWhereHalted = createCancelWhereHalted({ ...ports, ...openOrders })
      processJob = processOrder({ ...ports, cancelWhereHalted })
      halts = createHalts({
        ...ports,
        cancelOrders: openOrders.cancelOrders,
        closePositions: () => TE.right([]),
      })
      timeline.schedule(0, poll)
    }

    const clock = {
      now: () => {
        if (strikes('clock_step', 0.02)) {
          wallOffsetMs = wrongByMs()
          timeline.note(`${life.id}  the clock is now ${wallOffsetMs} ms off`)
        }
        return startedAt + timeline.now() + wallOffsetMs
      },
    }

    const accountReads = createFakeBroker(clock)
    for (const { id } of accounts) accountReads.put(id)

    const recorded = (order: NewOrder) =>
      begin({ ...order, placement: { step: 'recorded' }, version: 1, sentBefore: 'no' })

    const portsOf = (current: Life) => {
      const stopwatch = { elapsedMs: () => timeline.now() - startedAtMs }
      const acquire: AcquireSlot = (_, patienceMs) => async () => {
        if (!strikes('busy', 0.2)) return () => undefined
        const freeInMs = Math.floor(random.fraction() * 1.2 * Math.max(patienceMs, 0))
        await current.wait(Math.min(freeInMs, patienceMs))
        return freeInMs < patienceMs ? () => undefined : undefined
      }
      return {
        ...database.storesOf(current, recorded),
        trading: broker.tradingOf(current),
        slots: { forSend: acquire, forLookup: acquire },
        changeLocks: { holding: locks(current) },
        clock,
        stopwatch,
        pause: (ms: number) => () => current.wait(ms),
        onAccountChanged: () => undefined,
        onHaltCancellationFailed: () => undefined,
        broker: accountReads,
        journal: { find: () => TE.right(O.none) } as unknown as Journal,
        liveAccounts: {
          read: (account: Account) => async () => {
            await current.wait(strikes('slow_dial', 0.3) ? delayMs(minuteMs) : random.whole(5, 500))
            const { id: accountId } = account
            if (strikes('no_connection', 0.3))
              return E.left(refuse('BrokerUnavailable', { accountId, reason: 'no connection' }))
            return accountReads.accountInformation({ accountId } as BrokerAccount)()
          },
        },
      }
    }

    const begin = (job: OrderJob, inMs = 0) => {
      const key = `${job.order.id}:${job.version}`
      if (inProgress.has(key)) return
      inProgress.add(key)
      const current = life
      const run = async () => {
        if (inMs > 0) await current.wait(inMs)
        const processed = await processJob(job)()
        inProgress.delete(key)
        // An answer on the left leaves the row due again.
        const retry = E.isRight(processed) ? processed.right.retry : undefined
        if (retry !== undefined) begin(retry.job, retry.inMs)
      }
      void run()
    }

    const poll = () => {
      if (!life.isAlive()) return
      if (isPolling) return pollSoon()
      isPolling = true
      void claim()
    }
    const claim = async () => {
      const claimed = await database.claimDue(life, ports.stopwatch.elapsedMs)()
      isPolling = false
      if (E.isLeft(claimed)) return pollSoon()
      for (const job of claimed.right) begin(job)
    }
    const pollSoon = () => {
      if (isPollScheduled) return
      isPollScheduled = true
      timeline.schedule(random.whole(secondMs / 2, pollMs), () => {
        isPollScheduled = false
        poll()
      })
    }

    /** A round of the watch for every account. */
    const round = async (current: Life) => {
      for (const { id } of accounts) {
        const account = database.account(id)
        const linked = account && requireBrokerAccount(account)
        if (!current.isAlive() || linked === undefined || E.isLeft(linked)) continue
        const followed = await followOpenOrders(ports)(linked.right)()
        if (E.isRight(followed) && followed.right) poll()
      }
    }

    const whileAlive = (work: (current: Life) => Promise<void>) => {
      if (life.isAlive()) void work(life)
    }

    start()
    return {
      poll,
      round: () => whileAlive(round),
      change: (id: OrderId) =>
        whileAlive(async (current) => {
          const [caller, clientId] = [{ owner }, brokerClientId(id)]
          const isCancellation = random.chance(0.6)
          const beganAtMs = timeline.now()
          const changed = await (isCancellation
            ? openOrders.cancelOrder(caller, { id })()
            : openOrders.modifyOrder(caller, { id, body: { price: random.whole(1, 1_000) } })())
          const tookMs = timeline.now() - beganAtMs
          // A database ends by itself what takes longer than a few seconds.
          if (tookMs > changedWithinMs && counts.slow_database === 0)
            violated(`a change of ${clientId} was answered after ${tookMs} ms`)
          if (isCancellation) return checkCancelled(current, id, changed)
          timeline.note(`${current.id}  ${clientId} is changed: ${tagOf(changed)}`)
          if (E.isRight(changed)) modified += 1
        }),
      halt: (id: AccountId, cancelOrders: boolean) =>
        whileAlive(async (current) => {
          const view = await halts.haltAccount(
            { owner },
            { id, body: { cancelOrders }, ...withoutKey },
          )()
          timeline.note(
            `${current.id}  the halt of account ${id.at(-1)} is answered: ${tagOf(view)}`,
          )
          const { cancellations } = E.isRight(view) ? view.right : {}
          if (cancellations === undefined || E.isLeft(cancellations)) return
          for (const { orderId, result } of cancellations.right)
            checkCancelled(current, orderId, result)
        }),
      lift: (id: AccountId) =>
        whileAlive(async () => void (await halts.liftHalt({ owner }, { id })())),
      place: (id: OrderId, { id: accountId }: Account, isLimitOrStop: boolean) =>
        whileAlive(async (current) => {
          const newOrderId = (): OrderId => {
            madeAtMs.set(brokerClientId(id), timeline.now())
            timeline.note(`${current.id}  ${brokerClientId(id)} is made`)
            return id
          }
          const terms = { accountId, symbol: 'EURUSD', side: 'buy', volume: 0.1 } as const
          await checkAndRecordOrder({
            ...ports,
            providerTokens: { find: () => TE.right(O.some('token')) },
            positionTrading: { freshPositions: accountReads.positions } as PositionTrading,
            orderIds: { newOrderId },
            resolveOrderSymbol: symbolAsWritten,
          })(
            { owner },
            isLimitOrStop
              ? { ...terms, orderType: 'limit', price: 1.1 }
              : { ...terms, orderType: 'market' },
          )()
        }),
    }
  }

  const processes = times(processCount, (index) => startProcess(`p${index + 1}`))

  const haltAndLift = (id: AccountId, atMs: number) => {
    const [{ halt }, { lift }] = [random.pick(processes), random.pick(processes)]
    const cancelOrders = random.chance(0.5)
    timeline.schedule(atMs, () => halt(id, cancelOrders))
    if (random.chance(0.5)) timeline.schedule(atMs + random.delayMs(5 * minuteMs), () => lift(id))
  }

  for (const account of accounts) database.putAccount(account)
  for (let index = 0; index < orders; index += 1) {
    const id = `ord_${String(index).padStart(10, '0').padEnd(20, '0')}` as OrderId
    const [account, place] = [random.pick(accounts), random.pick(processes).place]
    const isLimitOrStop = pendingShare > 0 && random.chance(pendingShare)
    const placedAtMs = random.whole(0, placedWithinMs)
    timeline.schedule(placedAtMs, () => place(id, account, isLimitOrStop))
    if (pendingShare > 0 && random.chance(0.3))
      haltAndLift(
        account.id,
        placedAtMs + random.delayMs(random.pick([5 * secondMs, 5 * minuteMs])),
      )
    if (!isLimitOrStop) continue
    for (let change = random.whole(0, 3); change > 0; change -= 1) {
      const process = random.pick(processes)
      timeline.schedule(random.whole(0, faultsEndAtMs / 2), () => process.change(id))
    }
  }
  // --- the laws ---

  const checkEnd = (row: OrderRow) => {
    const { order } = row
    const clientId = brokerClientId(order.id)
    const disagreement = broker.disagreement(order)
    if (disagreement !== undefined) violated(disagreement)
    if (order.status === 'open' && database.isHaltCancelling(row))
      violated(`${clientId} is open on an account whose halt cancels orders`)
    const isOfBroker = order.status === 'cancelled' && order.cancelReason === 'broker'
    if (isOfBroker && broker.isCancelledByRequest(clientId) && database.failovers() === 0)
      violated(`${clientId} was cancelled by a request, which its record does not say`)
    if (corrected.has(clientId) && refreshShowsTruth)
      violated(`${clientId} was reported not executed, and corrected`)
  }

  if (pendingShare > 0) {
    const watch = () => {
      for (const { round } of processes) if (random.chance(0.5)) round()
      timeline.schedule(timeline.now() < faultsEndAtMs ? watchMs : 6 * watchMs, watch)
    }
    const upkeep = (everyMs: number, work: () => void) => {
      work()
      timeline.schedule(everyMs, () => upkeep(everyMs, work))
    }
    watch()
    upkeep(5 * minuteMs, database.makeUnwatchedDue)
    upkeep(minuteMs, database.makeHaltedDue)
  }

  await timeline.run(faultsEndAtMs + decidedWithinMs)
  if (database.rows().every(({ order }) => order.status !== 'pending'))
    await timeline.run(timeline.now() + afterwardsMs)
  for (const row of database.rows()) checkEnd(row)
  for (const [index, clientId] of broker.accepted.entries())
    if (broker.accepted.indexOf(clientId) < index) violated(`${clientId} was accepted again`)

  const ends = Object.groupBy(database.rows(), ({ order }) => statusOf(order))
  return {
    violations,
    history: timeline.history,
    counts: {
      made: madeAtMs.size,
      ...Object.fromEntries(Object.entries(ends).map(([end, rows = []]) => [end, rows.length])),
      corrected: corrected.size,
      reopened: reopened.size,
      modified,
      ...broker.counts,
      forgottenSends: database.forgottenSends.size,
      ...counts,
    },
  }
}
