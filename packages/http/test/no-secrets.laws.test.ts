// No reply repeats anything of an unexpected failure: no message, no SQL, no stack trace.
import {
  brokerUnavailable,
  challengeCheckUnavailable,
  limitCheckUnavailable,
  serviceUnavailable,
} from '@tradeport/domain/errors'
import * as fc from 'fast-check'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import { apiRoutes, createApi, createOperatorApi } from '../src/index.ts'
import type { OperatorUseCases, UseCases } from '../src/index.ts'
import {
  accountId,
  admitted,
  fakeEdge,
  fakeUseCases,
  requestOf,
  run,
  send,
  targetOf,
} from './fakes.ts'
import type { Answer } from './fakes.ts'

type UseCase = (...args: readonly unknown[]) => unknown

const operatorToken = 'the-token-of-the-operator'
const secret = fc.stringMatching(/^[A-Za-z0-9]{16,24}$/)

/**
 * What a driver, a client or careless code may throw, with the secret in every place that can hold
 * one.
 */
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
    fc
      .constantFrom<unknown>(null, undefined, 'words', [null], { trades: { length: 2 } })
      .map((result) => () => TE.right(result)),
    fc.constantFrom(...refusals).map((refusal) => () => TE.left(refusal)),
    fc.constant(() => TE.left({ _tag: text, reason: text })),
  )
}

const hidesSecret = (text: string, { status, headers, text: body }: Answer): boolean => {
  const reply = `${JSON.stringify(headers)}${body}`
  if (reply.includes(text) || /insert into|23505|\.ts:\d|node_modules|\bat \w+ \(/.test(reply))
    return false
  return [500, 503].includes(status) ? JSON.parse(body).success === false : status < 400
}

const cases = secret.chain((text) =>
  fc.record({ text: fc.constant(text), failing: failingWith(text), failure: failureWith(text) }),
)

const unavailable: UseCase = () => TE.left(serviceUnavailable('at first'))
const admitting: UseCase = () => admitted

it('a failure of a use case, of the credential check or of the limiter is not repeated in any reply, but logged', async () => {
  let failing = unavailable
  let limiting = admitting
  const { identifyCaller } = fakeUseCases()
  const allFailing = new Proxy(
    {},
    {
      get:
        () =>
        (...args: readonly unknown[]) =>
          failing(...args),
    },
  ) as UseCases & OperatorUseCases
  const behindCheck = new Proxy(allFailing, {
    get: (all, name) =>
      (name === 'identifyCaller' ? identifyCaller : Reflect.get(all, name)) as unknown,
  })
  const edge = fakeEdge()
  const limitedEdge = fakeEdge({
    limiter: { decide: (...args) => limiting(...args) as typeof admitted },
  })
  await using api = await run(createApi(behindCheck, edge))
  await using unidentified = await run(createApi(allFailing, edge))
  await using limited = await run(createApi(fakeUseCases(), limitedEdge))
  await using operator = await run(createOperatorApi(allFailing, { ...edge, operatorToken }))
  const document = {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: '{}',
  }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...apiRoutes),
      cases,
      async (route, { text, failing: made, failure }) => {
        failing = made
        limiting = () => Promise.reject(failure)
        const replies = [
          await send(api, targetOf(route), requestOf(route)),
          await send(unidentified, '/api/v1/accounts'),
          await send(operator, '/operator/v1/apply', document),
          await send(limited, '/api/v1/accounts'),
        ]
        return replies.every((reply) => reply.status === 401 || hidesSecret(text, reply))
      },
    ),
    { numRuns: 1_000 },
  )
  expect(edge.lines.length).toBeGreaterThan(1_000)
})
