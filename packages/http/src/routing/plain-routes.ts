// What is answered beside the API: probes, pages and files, each by its whole path, for whoever asks. No credential is looked at, no limit counts and no
// envelope is put around it; a path that a route has is the route's.
import type { IncomingMessage } from 'node:http'
import type { PlainReply } from '../replies/reply.ts'

/** Answers GET, and HEAD with the head alone. */
export type PlainRoute = (request: IncomingMessage) => PlainReply | Promise<PlainReply>

/** By path, to the letter: `/healthz`. */
export type PlainRoutes = Readonly<Record<`/${string}`, PlainRoute>>

export type PlainRouter = (method: string | undefined, path: string) => PlainRoute | undefined

export const createPlainRouter = (routes: PlainRoutes = {}): PlainRouter => {
  const byPath = new Map<string, PlainRoute>(Object.entries(routes))
  return (method, path) => (method === 'GET' || method === 'HEAD' ? byPath.get(path) : undefined)
}
