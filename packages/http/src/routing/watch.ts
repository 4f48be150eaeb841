// What is told of a request once it is answered: to a meter by its route and status, and to whoever writes a line for each.
import type { Context } from 'koa'
import type { PlainRoutes } from './plain-routes.ts'
import type { Route } from './route.ts'

/** One request of a route, or of none, was answered. It must not throw, and should cost next to nothing. */
export type ObserveRequest = (status: number, durationMs: number) => void

/** Asked for each route once, before the first request, so that there are as many names as there are routes and one. */
export type RequestMeter = (method: string, route: string) => ObserveRequest

/** A request as it went, without anything that the caller wrote. */
export interface AnsweredRequest {
  readonly requestId: string
  readonly method: string
  /** With its parameters' names in place of what was sent: `/api/v1/positions/:id`. */
  readonly route: string
  readonly status: number
  /** Whole. */
  readonly durationMs: number
}

export interface Watching {
  readonly meter?: RequestMeter | undefined
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined
}

/** What requests are told of as. */
export interface Watched {
  readonly method: string
  readonly route: string
  readonly observe: ObserveRequest
}

export interface Watch {
  /** Undefined is what nothing answers. */
  readonly of: (route: object | undefined) => Watched
  /** To be called when the reply was handed on, or its stream has begun: the end of a stream is waited for. */
  readonly tell: (ctx: Context, watched: Watched, requestId: string, startedAt: number) => void
}

export const unmatched = { method: 'any', route: 'unmatched' } as const

const observeNothing: ObserveRequest = () => undefined

export const createWatch = (
  { prefix, routes, plainRoutes }: { readonly prefix: string; readonly routes: readonly Route<never>[]; readonly plainRoutes: PlainRoutes },
  { meter = () => observeNothing, onAnswered }: Watching,
): Watch => {
  const watched = (method: string, route: string): Watched => ({ method, route, observe: meter(method, route) })
  const byRoute = new Map<object, Watched>([
    ...routes.map((route) => [route, watched(route.method, `${prefix}${route.path}`)] as const),
    ...Object.entries(plainRoutes).map(([path, route]) => [route, watched('GET', path)] as const),
  ])
  const others = watched(unmatched.method, unmatched.route)

  const tellNow = (ctx: Context, { method, route, observe }: Watched, requestId: string, startedAt: number): void => {
    const durationMs = performance.now() - startedAt
    observe(ctx.res.statusCode, durationMs)
    onAnswered?.({ requestId, method, route, status: ctx.res.statusCode, durationMs: Math.round(durationMs) })
  }

  return {
    of: (route) => (route === undefined ? others : (byRoute.get(route) ?? others)),
    tell: (ctx, one, requestId, startedAt) => {
      // Also where the caller is gone already, and nothing will be told of an end.
      if (ctx.respond === false || ctx.res.destroyed) tellNow(ctx, one, requestId, startedAt)
      else ctx.res.once('close', () => tellNow(ctx, one, requestId, startedAt))
    },
  }
}
