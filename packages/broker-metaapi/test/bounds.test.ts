// Bounds on what the provider can cost us, against a server that answers as slowly, as long or as badly as it likes.
import * as E from 'fp-ts/lib/Either.js'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { withDeadline } from '../src/deadline.ts'
import type { ProviderCall } from '../src/index.ts'
import { account, brokerWith, everWindow, reasonOf } from './support.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

const brokerAt = async (listener: RequestListener, more: Parameters<typeof brokerWith>[0] = {}) => {
  const own = createServer(listener)
  server = own
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
  const clientUrl = `http://127.0.0.1:${(own.address() as AddressInfo).port}`
  return brokerWith({ clientUrl, ...more })
}

const deadlines = { accountInformationMs: 1_500, readMs: 2_000 }

const timed = async <A>(work: () => Promise<A>) => {
  const startedAt = performance.now()
  const result = await work()
  return { result, ms: performance.now() - startedAt }
}

describe('deadlines', () => {
  it('end a read that gets no answer', async () => {
    let isClosed = false
    const broker = await brokerAt((request) => void request.socket.on('close', () => (isClosed = true)), { deadlines })
    const { result, ms } = await timed(broker.positions(account))
    expect(reasonOf(result)).toBe('positions: no whole answer within 2000 ms')
    expect(ms).toBeLessThan(10_000)
    await expect.poll(() => isClosed).toBe(true)
  })

  it('end a read whose answer drips', async () => {
    const broker = await brokerAt(
      (_, response) => {
        response.write('[')
        const drip = setInterval(() => response.write(' '), 20)
        response.on('close', () => clearInterval(drip))
      },
      { deadlines },
    )
    const { result, ms } = await timed(broker.positions(account))
    expect(reasonOf(result)).toBe('positions: no whole answer within 2000 ms')
    expect(ms).toBeLessThan(10_000)
  })

  it('are shorter for account information', async () => {
    const broker = await brokerAt(() => undefined, { deadlines })
    expect(reasonOf(await broker.accountInformation(account)())).toBe('account-information: no whole answer within 1500 ms')
  })

  it('hold for a token that does not come', async () => {
    const broker = brokerWith({ deadlines, providerToken: () => () => new Promise(() => undefined) })
    expect(reasonOf(await broker.accountInformation(account)())).toBe('account-information: no whole answer within 1500 ms')
  })

  it('hold for a page of a history', async () => {
    const broker = await brokerAt(() => undefined, { deadlines })
    expect(reasonOf(await broker.dealsPage(account, everWindow)())).toBe('history-deals: no whole answer within 2000 ms')
  })

  it('end whatever a read started, when it is over before them', async () => {
    const signals: AbortSignal[] = []
    const keep = (signal: AbortSignal) => void signals.push(signal)
    await withDeadline(
      10_000,
      () => new Error(),
      async (signal) => keep(signal),
    )
    const failed = withDeadline(
      10_000,
      () => new Error(),
      async (signal) => {
        keep(signal)
        throw new RangeError()
      },
    )
    await expect(failed).rejects.toThrow(RangeError)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  it('leave no time for a second try that would pass them', async () => {
    const calls: ProviderCall[] = []
    const broker = await brokerAt((_, response) => void setTimeout(() => response.writeHead(500).end(), 120), {
      deadlines: { ...deadlines, accountInformationMs: 150 },
      onCall: (call) => calls.push(call),
    })
    expect(reasonOf(await broker.accountInformation(account)())).toBe('account-information: no whole answer within 150 ms')
  })
})

describe('an answer', () => {
  it('that is too long is not read to its end', async () => {
    let sent = 0
    const broker = await brokerAt((_, response) => {
      const chunk = Buffer.alloc(1_048_576, ' ')
      const more = (): void => {
        while (!response.destroyed && sent < 200) {
          sent += 1
          if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    expect(reasonOf(await broker.positions(account)())).toBe('positions: answered with more than 16777216 bytes')
    expect(sent).toBeLessThan(60)
  })

  it('that breaks off is no answer, and is asked for once more', async () => {
    let asked = 0
    const broker = await brokerAt((_, response) => {
      asked += 1
      response.writeHead(200, { 'content-length': 100 }).write('[')
      setTimeout(() => response.destroy(), 10)
    })
    expect(reasonOf(await broker.positions(account)())).toMatch(/^positions: no connection \(/)
    expect(asked).toBe(2)
  })

  it('that says nothing but that it is too much is read by its status', async () => {
    const broker = await brokerAt((_, response) => void response.writeHead(401).end('x'.repeat(200_000)))
    expect(reasonOf(await broker.positions(account)())).toBe('positions: answered 401')
  })

  it('from nobody is no answer', async () => {
    const broker = await brokerAt((_, response) => void response.end('[]'))
    await new Promise((resolve) => server?.close(resolve))
    expect(reasonOf(await broker.positions(account)())).toBe('positions: no connection (ECONNREFUSED)')
  })

  it('that is compressed is read', async () => {
    const { gzipSync } = await import('node:zlib')
    const broker = await brokerAt((_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[]')))
    expect(E.isRight(await broker.positions(account)())).toBe(true)
  })
})
