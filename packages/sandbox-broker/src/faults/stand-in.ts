// The answers that replace the route's own one when a fault decides it.
import {
  accountNotFound,
  forbidden,
  internalError,
  notConnected,
  timedOut,
  tooManyRequests,
  unauthorized,
} from '../rest/reply.ts'
import type { Context, Handler } from '../rest/context.ts'
import { codeReply } from '../trading/return-codes.ts'
import type { DecisiveFault, Of } from './fault.ts'

const rateLimited = (
  { retryAfterSeconds = 1, header = 'seconds', retryTime = 'iso' }: Of<'rate-limit'>,
  ctx: Context,
): void => {
  const again = new Date(ctx.state.at + retryAfterSeconds * 1_000)
  const headers = {
    seconds: { 'retry-after': String(Math.ceil(retryAfterSeconds)) },
    date: { 'retry-after': again.toUTCString() },
    none: {},
  }
  const times = {
    iso: { recommendedRetryTime: again.toISOString() },
    rfc1123: { recommendedRetryTime: again.toUTCString() },
    none: {},
  }
  ctx.set(headers[header])
  tooManyRequests({
    total: 1_000,
    available: 0,
    needed: 50,
    exceededConfig: 'perAccount',
    exceededPeriod: '1s',
    ...times[retryTime],
  })(ctx)
}

const answerText = (
  ctx: Context,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  ctx.status = status
  ctx.type = 'json'
  ctx.set(headers)
  ctx.body = Buffer.from(text)
}

const notConnectedAnswer: Handler = (ctx) => notConnected(ctx.state.account.settings.id)(ctx)

const STAND_INS: {
  readonly [Kind in DecisiveFault['kind']]: (ctx: Context, fault: Of<Kind>) => void
} = {
  timeout: timedOut,
  cut: (ctx) => {
    ctx.respond = false
    ctx.req.socket.resetAndDestroy()
  },
  lost: (ctx) => {
    ctx.respond = false
  },
  'rate-limit': (ctx, fault) => rateLimited(fault, ctx),
  unavailable: (ctx) =>
    answerText(
      ctx,
      503,
      '<html><head><title>503</title></head><body>Service unavailable</body></html>',
      { 'content-type': 'text/html' },
    ),
  'server-error': internalError(),
  unauthorized,
  forbidden,
  'not-found': (ctx) => accountNotFound(ctx.state.account.settings.id)(ctx),
  undeployed: notConnectedAnswer,
  'wrong-region': notConnectedAnswer,
  reply: (ctx, { status, body, text = body === undefined ? '' : JSON.stringify(body), headers }) =>
    answerText(ctx, status, text, headers),
  'return-code': (ctx, fault) => {
    ctx.status = fault.status ?? 200
    ctx.body = codeReply(fault.numericCode, fault)
  },
}

/**
 * The answer that a fault gives, and whether it gives it before the request is carried out or
 * after.
 */
export const standInFor = (
  fault: DecisiveFault,
): { readonly when: 'before' | 'after'; readonly answer: Handler } => {
  const answer = STAND_INS[fault.kind] as (ctx: Context, fault: DecisiveFault) => void
  return {
    when: ('when' in fault ? fault.when : undefined) ?? 'before',
    answer: (ctx) => answer(ctx, fault),
  }
}
