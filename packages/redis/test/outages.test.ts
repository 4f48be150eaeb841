// Redis slow, gone, frozen and back: every request is answered, no limit is forgotten, nobody is
// refused who would not have been, and the log has a line for each change. Endpoint limits of ten
// an hour are used, so that the time a busy machine takes gives nothing back.
import { setTimeout as pause } from 'node:timers/promises'
import type { RateSubject, RateVerdict } from '@tradeport/domain/access'
import { exportLimit, newRateSubject, times, createTcpProxy } from '@tradeport/testkit'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import {
  openRedisRateLimiter,
  type RedisRateLimiter,
  type RedisRateLimiterOptions,
} from '../src/index.ts'
import { createFakeRateLimiter } from './fake-rate-limiter.ts'
import { isInstalled, startOwnServer } from './servers.ts'

interface Instance extends RedisRateLimiter {
  /** Asks so often, one request after the other; the scope of each refusal, or `passed`. */
  readonly ask: (subject: RateSubject, count: number) => Promise<readonly string[]>
  readonly until: (status: 'shared' | 'alone') => Promise<void>
  readonly lines: {
    readonly level: 'info' | 'warn'
    readonly event?: string
    readonly reason?: unknown
    readonly message: string
  }[]
  readonly suspended: string[]
}

/** A day ahead of that of Redis. */
const clock = () => Date.now() + 86_400_000

const opened: Instance[] = []
afterAll(() => {
  for (const one of opened) one.close()
})

const outcomeOf = ({ refusal }: RateVerdict) =>
  refusal === null ? 'passed' : refusal.exceeded.scope
const repeated = (count: number, what: string) => times(count, () => what)

const openInstance = async (url: string, options: Partial<RedisRateLimiterOptions> = {}) => {
  const lines: Instance['lines'] = []
  const suspended: string[] = []
  const onSuspension = ({ id }: RateSubject, until: number) =>
    void suspended.push(until > clock() ? id : 'past')
  const limiter = await openRedisRateLimiter({
    url,
    local: createFakeRateLimiter(onSuspension),
    onSuspension,
    log: {
      info: (fields, message) => lines.push({ level: 'info', ...fields, message }),
      warn: (fields, message) => lines.push({ level: 'warn', ...fields, message }),
    },
    // Long enough for a busy machine; a server that is gone or frozen is found out by less.
    timeoutMs: 2_000,
    probeIntervalMs: 50,
    ...options,
  })
  const instance: Instance = {
    ...limiter,
    lines,
    suspended,
    ask: async (subject, count) => {
      const outcomes: string[] = []
      for (let asked = 0; asked < count; asked += 1)
        outcomes.push(outcomeOf(await limiter.decide(subject, exportLimit, clock())))
      return outcomes
    },
    until: async (status) => {
      while (limiter.status() !== status) await pause(20)
    },
  }
  opened.push(instance)
  return instance
}

describe.concurrent('a limiter without Redis', () => {
  it.each(['the connection is refused', 'the server never answers'])(
    'limits alone at once if %s',
    async (how) => {
      const proxy = await createTcpProxy({ target: 'redis://:hush-hush@127.0.0.1' })
      if (how === 'the connection is refused') await proxy.refuse()
      else proxy.blackHole()
      const alone = await openInstance(proxy.url)
      const subject = newRateSubject()
      expect(alone.status()).toBe('alone')
      const localFallbackMs = alone.localFallbackMs()
      await pause(30)
      expect(alone.localFallbackMs() - localFallbackMs).toBeGreaterThanOrEqual(20)
      expect(alone.decide(subject, exportLimit, clock())).not.toBeInstanceOf(Promise)
      expect(await alone.ask(subject, 11)).toEqual([
        ...repeated(9, 'passed'),
        ...repeated(2, 'endpoint'),
      ])
      expect(alone.lines).toMatchObject([
        { level: 'warn', message: expect.stringContaining('limits by itself') },
      ])
      expect(JSON.stringify(alone.lines)).not.toContain('hush')
      await proxy.close()
    },
  )
})

const openTwo = async (url: string) => [await openInstance(url), await openInstance(url)] as const

describe.skipIf(!isInstalled)(
  `a limiter whose Redis fails${isInstalled ? '' : ' (redis-server is not installed)'}`,
  { concurrent: true },
  () => {
    it('probes Redis for a check', async () => {
      await using server = await startOwnServer()
      const one = await openInstance(server.url, { timeoutMs: 500, probeIntervalMs: 60_000 })
      expect(await one.check()).toEqual({ status: 'shared' })
      server.freeze()
      expect(one.status()).toBe('shared')
      const alone = { status: 'alone', reason: 'no answer within 500 ms' }
      expect([await one.check(), one.status()]).toEqual([alone, 'alone'])
      server.thaw()
      expect([await one.check(), one.status()]).toEqual([{ status: 'shared' }, 'shared'])
    })

    it('connects anew while the server is a replica, which a failover may end', async () => {
      await using server = await startOwnServer()
      const one = await openInstance(server.url)
      const admin = new Redis(server.url)
      await admin.replicaof('127.0.0.1', 1)
      const connections = async () =>
        Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))?.[1])
      const before = await connections()
      expect(await one.check()).toMatchObject({ reason: expect.stringContaining('READONLY') })
      while ((await connections()) < before + 3) await pause(20)
      await admin.replicaof('no', 'one')
      await one.until('shared')
      admin.disconnect()
    })

    it('limits alone from the start, and logs it, at a server that refuses the script', async () => {
      await using server = await startOwnServer()
      const admin = new Redis(server.url)
      await admin.replicaof('127.0.0.1', 1)
      const one = await openInstance(server.url)
      expect(one.status()).toBe('alone')
      expect(one.lines).toMatchObject([
        { event: 'redis_lost', reason: expect.stringContaining('READONLY') },
      ])
      await admin.replicaof('no', 'one')
      await one.until('shared')
      admin.disconnect()
    })

    it('limits alone, and logs it, if Redis does not have the database of the URL', async () => {
      await using server = await startOwnServer()
      const one = await openInstance(`${server.url}/9999`)
      expect(one.status()).toBe('alone')
      await pause(200)
      expect(one.status()).toBe('alone')
      expect(one.lines).toMatchObject([
        { level: 'warn', reason: expect.stringContaining('DB index') },
      ])
      expect((await openInstance(`${server.url}/3`)).status()).toBe('shared')
    })

    it('shares limits once Redis is available after the start', async () => {
      await using server = await startOwnServer()
      await server.stop()
      const one = await openInstance(server.url)
      const subject = newRateSubject()
      expect([one.status(), await one.ask(subject, 4)]).toEqual(['alone', repeated(4, 'passed')])
      expect(await one.check()).toMatchObject({ reason: expect.stringContaining('ECONNREFUSED') })
      await server.start()
      const other = await openInstance(server.url)
      await one.until('shared')
      const localFallbackMs = one.localFallbackMs()
      expect(localFallbackMs).toBeGreaterThan(0)
      expect(other.localFallbackMs()).toBe(0)
      await pause(30)
      expect(one.localFallbackMs()).toBe(localFallbackMs)
      expect([await one.ask(subject, 1), await other.ask(subject, 6)]).toEqual([
        repeated(1, 'passed'),
        [...repeated(5, 'passed'), 'endpoint'],
      ])
    })

    it('continues from the state of Redis during an outage, and restores it in a Redis that was emptied, also while it is connected', async () => {
      await using server = await startOwnServer()
      const [one, other] = await openTwo(server.url)
      const subject = newRateSubject()
      await other.ask(subject, 4)
      expect(await one.ask(subject, 2)).toEqual(repeated(2, 'passed'))
      await one.decide(subject, undefined, clock())
      await server.stop()
      await one.until('alone')
      // Six were used over both; this instance saw the last.
      expect(await one.ask(subject, 3)).toEqual(repeated(3, 'passed'))
      expect(one.decide(newRateSubject(), exportLimit, Date.now())).not.toBeInstanceOf(Promise)
      await server.start()
      await one.until('shared')
      expect(await one.ask(subject, 3)).toEqual(['passed', ...repeated(2, 'endpoint')])
      await other.until('shared')
      await server.empty()
      // The first to ask knows less than the other, or nothing.
      await (await openInstance(server.url)).ask(subject, 1)
      expect(await one.ask(subject, 1)).toEqual(['endpoint'])
      expect(await other.ask(subject, 1)).toEqual(['endpoint'])
      expect(one.lines.map(({ event }) => event)).toEqual(['redis_lost', 'redis_back'])
    })

    it('decides alone after one timeout while Redis is frozen, and shares limits again afterwards', async () => {
      await using server = await startOwnServer()
      const one = await openInstance(server.url)
      const subject = newRateSubject()
      expect(await one.ask(subject, 4)).toEqual(repeated(4, 'passed'))
      server.freeze()
      // All of these wait at once, and are decided once each, however many.
      const waiting = await Promise.all(times(5, () => one.ask(subject, 1)))
      expect(waiting.flat()).toEqual(repeated(5, 'passed'))
      expect(one.status()).toBe('alone')
      expect(one.decide(newRateSubject(), exportLimit, Date.now())).not.toBeInstanceOf(Promise)
      expect(await one.ask(subject, 2)).toEqual(['passed', 'endpoint'])
      server.thaw()
      await one.until('shared')
      expect(await one.ask(subject, 1)).toEqual(['endpoint'])
      expect(one.lines.map(({ event }) => event)).toEqual(['redis_lost', 'redis_back'])
    })

    it('keeps a suspension during and after an outage, and reports it once', async () => {
      await using server = await startOwnServer()
      const [one, other] = await openTwo(server.url)
      const subject = newRateSubject()
      expect(await one.ask(subject, 21)).toEqual([
        ...repeated(10, 'passed'),
        ...repeated(9, 'endpoint'),
        ...repeated(2, 'suspension'),
      ])
      await server.stop()
      expect(await one.ask(subject, 2)).toEqual(repeated(2, 'suspension'))
      await server.start()
      await one.until('shared')
      await other.until('shared')
      for (const each of [one, other]) expect(await each.ask(subject, 1)).toEqual(['suspension'])
      expect([one.suspended, other.suspended]).toEqual([[subject.id], []])
    })

    it('reports a suspension that Redis began after the timeout of its request', async () => {
      await using server = await startOwnServer()
      const [one, other] = await openTwo(server.url)
      const [subject, own] = [newRateSubject(), newRateSubject()]
      await one.ask(own, 19)
      await one.ask(subject, 11)
      await other.ask(subject, 8)
      server.freeze()
      // Alone it knows of one refusal before this; Redis, which is asked all the same, of nine.
      const decided = await Promise.all([one.ask(subject, 1), one.ask(own, 1)])
      expect(decided).toEqual([['endpoint'], ['suspension']])
      server.thaw()
      await one.until('shared')
      expect(await one.ask(subject, 1)).toEqual(['suspension'])
      expect([one.suspended, other.suspended]).toEqual([[own.id, subject.id], []])
    })

    it('replaces a silent connection', async () => {
      await using server = await startOwnServer()
      const proxy = await createTcpProxy({ target: server.url })
      const one = await openInstance(proxy.url, { silenceMs: 1_000 })
      proxy.blackHole()
      await one.ask(newRateSubject(), 1)
      await proxy.resume()
      await one.until('shared')
      expect(await one.ask(newRateSubject(), 11)).toEqual([...repeated(10, 'passed'), 'endpoint'])
      await proxy.close()
    })
  },
)
