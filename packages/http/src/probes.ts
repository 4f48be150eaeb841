// What orchestrators and proxies ask of an instance: whether it lives, and whether it is to be sent requests. For whoever asks, so that nothing is told
// of what an instance is made of but what is wrong with it.
import type { PlainReply } from './replies/reply.ts'
import type { PlainRoutes } from './routing/plain-routes.ts'

export interface Readiness {
  /** What keeps the instance from serving, by name; nothing where it can serve. */
  readonly failing: readonly string[]
  /** Told beside it: an instance that limits alone serves all the same (decision 16). */
  readonly limiter: 'in-process' | 'shared' | 'alone'
}

/** @param readiness must not reject, and must hold its checks back by itself: anybody may ask, as often as they like */
export const probeRoutes = (readiness: () => Promise<Readiness>): PlainRoutes => ({
  '/healthz': () => json(200, { alive: true }),
  '/readyz': async () => {
    const { failing, limiter } = await readiness()
    const isReady = failing.length === 0
    return json(isReady ? 200 : 503, { ready: isReady, failing, limiter })
  },
})

const json = (status: number, body: object): PlainReply => ({
  kind: 'plain',
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
})
