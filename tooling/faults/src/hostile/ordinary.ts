// Clients who do nothing wrong, while others do: each asks again and again on a connection that it
// keeps, and must be answered every time.
import { setTimeout as pause } from 'node:timers/promises'
import { faultsOfReply } from './judge.ts'
import { createLine } from './line.ts'

export interface Ordinary {
  /**
   * Requests and the longest wait since this was asked last, and a sentence for each request that
   * went wrong.
   */
  readonly take: () => {
    readonly requests: number
    readonly slowestMs: number
    readonly faults: readonly string[]
  }
  readonly stop: () => Promise<void>
}

const clients = 8
const pauseMs = 20
const keptFaults = 10

export const startOrdinary = (
  port: number,
  paths: readonly string[],
  fill: (text: string) => string,
): Ordinary => {
  const stopping = new AbortController()
  let [requests, slowestMs] = [0, 0]
  let faults: string[] = []
  const ask = async (): Promise<void> => {
    const line = createLine(port)
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const path = paths[turn % paths.length] ?? ''
      const startedAt = performance.now()
      const told = await line.ask(
        Buffer.from(
          fill(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: {{key:full}}\r\n\r\n`),
        ),
        false,
      )
      requests += 1
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
      const found =
        told.kind !== 'reply'
          ? [told.kind]
          : told.reply.status === 200
            ? faultsOfReply(told.reply, false)
            : [told.reply.body.toString()]
      if (found.length > 0 && faults.length < keptFaults)
        faults.push(`an ordinary client who asked for ${path}: ${found.join('; ')}`)
      await pause(pauseMs)
    }
    line.close()
  }
  const asking = Array.from({ length: clients }, ask)
  return {
    take: () => {
      const taken = { requests, slowestMs, faults }
      requests = 0
      slowestMs = 0
      faults = []
      return taken
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(asking)
    },
  }
}
