// How the workers on due rows fail and stop.
import { refuse } from '@tradeport/domain/errors'
import * as E from 'fp-ts/lib/Either.js'
import { setTimeout } from 'node:timers/promises'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import { startWorkers } from '../src/workers.ts'

type Parts = Parameters<typeof startWorkers>
type Process = (due: object) => Promise<void>

const succeed = () => TE.right(false)
const failWith = (reason: string) => () => TE.left(refuse('ServiceUnavailable', { reason }))

/** The queues' jobs in place of the database; `steps` are those of their ends. */
const setUp = async (failing: object = {}, hasEvents = true) => {
  const steps: string[] = []
  const started: Process[] = []
  const historyRead = Promise.withResolvers<void>()
  const jobsOf = (queue: string, underWay = Promise.resolve()) => ({
    jobs: {
      work: async (process: Process) => {
        started.push(process)
        return {
          stop: async () => {
            steps.push(`${queue} stopping`)
            await underWay
            steps.push(`${queue} stopped`)
          },
        }
      },
    },
  })
  const composed = {
    readDueJournal: succeed,
    followOpenOrders: succeed,
    checkThresholds: succeed,
    ...failing,
  }
  const opened = {
    orders: jobsOf('orders'),
    events: hasEvents ? jobsOf('deliveries') : undefined,
    journal: jobsOf('journals', historyRead.promise),
  }
  const closers = new AsyncDisposableStack()
  await startWorkers(composed as unknown as Parts[0], opened as unknown as Parts[1], {
    closers,
    log: {} as Parts[2]['log'],
    watchMs: 10,
  })
  const claim = { account: { accountId: 'a-1' } }
  return { steps, historyRead, closers, read: () => started.at(-1)?.(claim) }
}

it('stop together, whatever one of them still has under way, and let no history be read to its end', async () => {
  const questions: (() => boolean)[] = []
  const { steps, historyRead, closers, read } = await setUp({
    readDueJournal: (_: object, { mayContinue }: { readonly mayContinue: () => boolean }) => {
      questions.push(mayContinue)
      return succeed()
    },
  })
  await read()
  expect(questions.map((mayContinue) => mayContinue())).toEqual([true])
  const closed = closers.disposeAsync()
  expect(questions.map((mayContinue) => mayContinue())).toEqual([false])
  await expect.poll(() => steps).toHaveLength(5)
  expect(steps).not.toContain('journals stopped')
  historyRead.resolve()
  await closed
  expect(steps.at(-1)).toBe('journals stopped')
})

it('follow orders and check thresholds in every interval while a journal is read', async () => {
  const reading = Promise.withResolvers<unknown>()
  const rounds = { orders: 0, thresholds: 0 }
  const { read } = await setUp({
    readDueJournal: () => () => reading.promise,
    followOpenOrders: () => TE.fromIO(() => ((rounds.orders += 1), false)),
    checkThresholds: () => TE.fromIO(() => (rounds.thresholds += 1)),
  })
  const job = read()
  await expect.poll(() => Math.min(rounds.orders, rounds.thresholds)).toBeGreaterThan(2)
  reading.resolve(E.right({}))
  await job
  const { orders } = rounds
  await setTimeout(50)
  expect(rounds.orders).toBe(orders)
})

it('report why each part of a round failed', async () => {
  const { read } = await setUp({
    readDueJournal: failWith('no history'),
    followOpenOrders: failWith('no orders'),
    checkThresholds: failWith('no history'),
  })
  await expect(read()).rejects.toThrow(/^account a-1: no history; no orders$/)
})

it.each([
  ['the check did', TE.right(true), true],
  ['it has no thresholds', TE.right(false), false],
  ['the check failed', failWith('no figures')(), false],
])('tell a read that failed whether the figures were read: %s', async (_, checked, expected) => {
  const found: boolean[] = []
  const { read } = await setUp({
    readDueJournal: (
      _claim: object,
      { hasReadFigures }: { readonly hasReadFigures: () => Promise<boolean> },
    ) => TE.fromTask(async () => found.push(await hasReadFigures())),
    checkThresholds: () => checked,
  })
  await read()?.catch(() => undefined)
  expect(found).toEqual([expected])
})

it('check no thresholds where no events are recorded', async () => {
  const { read } = await setUp({ checkThresholds: failWith('checked') }, false)
  await expect(read()).resolves.toBeUndefined()
})
