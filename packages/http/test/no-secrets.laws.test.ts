// No reply repeats anything of an unexpected failure: no message, no SQL, no stack trace.
import { brokerUnavailable, challengeCheckUnavailable, limitCheckUnavailable, serviceUnavailable } from '@tradeport/domain'
import * as fc from 'fast-check'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { apiRoutes, createApi, createOperatorApi } from '../src/index.ts'
import type { OperatorUseCases, UseCases } from '../src/index.ts'
import { accountId, admitted, fakeEdge, fakeUseCases, requestOf, run, send, targetOf } from './fakes.ts'
import type { Answer } from './fakes.ts'

type UseCase = (...args: readonly unknown[]) => unknown

const operatorToken = 'the-token-of-the-operator'
const secret = fc.stringMatching(/^[A-Za-z0-9]{16,24}$/)

/** What a driver, a client or careless code may throw, with the secret in every place that can hold one. */
const failureWith = (text: string): fc.Arbitrary<unknown> => {
  const statement = `insert into "orders" ("comment") values ('${text}') - duplicate key value violates unique constraint "orders_pkey"`
  const error = Object.assign(new Error(statement, { cause: new Error(text) }), {
    code: '23505',
    detail: `Key (comment)=(${text}) already exists.`,
    headers: { authorization: text },
    // Koa would answer the message of such an error.
    expose: true,
    status: 418,
    statusCode: 418,
  })
  return fc.constantFrom<unknown>(
    error,
    new TypeError(text),
    statement,
    { message: text, toString: () => text },
    Object.assign(new Error(), { name: text, stack: text }),
  )
}

/** Every way in which a use case can fail. */
const failingWith = (text: string): fc.Arbitrary<UseCase> => {
  const refusals = [
    brokerUnavailable(accountId, text),
    serviceUnavailable(text),
    challengeCheckUnavailable(text),
    limitCheckUnavailable(text),
  ]
  return fc.oneof(
    failureWith(text).map((failure) => () => {
      throw failure
    }),
    failureWith(text).map((failure) => () => () => {
      throw failure
    }),
    failureWith(text).map((failure) => () => () => Promise.reject(failure)),
    // A result that throws while the reply is made, or does not fit it.
    failureWith(text).map((failure) => () => {
      const broken: object = new Proxy(() => undefined, {
        get: () => {
          throw failure
        },
      })
      return TE.right(broken)
    }),
    fc.constantFrom<unknown>(null, undefined, 'words', [null], { trades: { length: 2 } }).map((result) => () => TE.right(result)),
    fc.constantFrom(...refusals).map((refusal) => () => TE.left(refusal)),
    fc.constant(() => TE.left({ _tag: text, reason: text })),
  )
}

const unavailable: UseCase = () => TE.left(serviceUnavailable('at first'))
const admitting: UseCase = () => admitted

const allFailing = (failing: UseCase): UseCases & OperatorUseCases => new Proxy({}, { get: () => failing }) as UseCases & OperatorUseCases

const hidesSecret = (text: string, { status, headers, text: body }: Answer): boolean => {
  const reply = `${JSON.stringify(headers)}${body}`
  if (reply.includes(text) || /insert into|23505|\.ts:\d|node_modules|\bat \w+ \(/.test(reply)) return false
  return [500, 503].includes(status) ? JSON.parse(body).success === false : status < 400
}

const failureCases = secret.chain((text) => fc.record({ text: fc.constant(text), failure: failureWith(text) }))
const cases = secret.chain((text) => fc.record({ text: fc.constant(text), failing: failingWith(text) }))

describe('a failure', () => {
  it.each(apiRoutes)('behind $method $path is not repeated in its reply', async (route) => {
    let failing = unavailable
    const { identifyCaller } = fakeUseCases()
    const useCases = allFailing((...args) => failing(...args))
    const app = createApi(
      new Proxy(useCases, { get: (all, name) => (name === 'identifyCaller' ? identifyCaller : Reflect.get(all, name)) as unknown }),
      fakeEdge(),
    )
    await using api = await run(app)
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        failing = one.failing
        return hidesSecret(one.text, await send(api, targetOf(route), requestOf(route)))
      }),
      { numRuns: 60 },
    )
  })

  it('of the credential check, the limiter or the operator API is not repeated in a reply', async () => {
    let failing = unavailable
    let limiting = admitting
    const edge = fakeEdge({ limiter: { decide: (...args) => limiting(...args) as typeof admitted } })
    await using unidentified = await run(
      createApi(
        { ...fakeUseCases(), identifyCaller: ((...args: readonly unknown[]) => failing(...args)) as UseCases['identifyCaller'] },
        edge,
      ),
    )
    await using limited = await run(createApi(fakeUseCases(), edge))
    await using operator = await run(
      createOperatorApi(
        allFailing((...args) => failing(...args)),
        { ...edge, operatorToken },
      ),
    )
    const document = {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: '{}',
    }
    await fc.assert(
      fc.asyncProperty(cases, failureCases, async (one, limiterFailure) => {
        failing = one.failing
        limiting = () => Promise.reject(limiterFailure.failure)
        const replies = [await send(unidentified, '/api/v1/accounts'), await send(operator, '/operator/v1/apply', document)]
        const ofLimiter = await send(limited, '/api/v1/accounts')
        return replies.every((reply) => reply.status === 401 || hidesSecret(one.text, reply)) && hidesSecret(limiterFailure.text, ofLimiter)
      }),
      { numRuns: 60 },
    )
    // The log has them.
    expect(edge.lines.length).toBeGreaterThan(60)
  })
})
