// The OpenAPI documents: complete, and served to everybody.
import type { AsyncResult, RefusalTag } from '@tradeport/domain/errors'
import { eventTypesOf, webhookEventTypes } from '@tradeport/domain/webhooks'
import { expect, it } from 'vitest'
import { createOpenApiDocument } from '../src/api.ts'
import { errorTable } from '../src/errors.ts'
import { storedRefusals } from '../src/idempotency.ts'
import { anybody, routesOf } from '../src/route.ts'
import { anyText, flag, whole } from '../src/schema.ts'
import { documents, type Json, operator, partAt, replyTo, users } from './documents.ts'
import {
  accountId,
  fakeDependencies,
  issuesOf,
  jsonRequest,
  runApi,
  send,
  type SentRequest,
  webhookBody,
} from './fakes.ts'
import { runOperatorApi } from './operator-use-cases.ts'

const isRefusal = (status: string) => Number(status) >= 400

const cases = documents.flatMap((api) => api.operations.map((one) => ({ api, ...one })))

/** The codes of the refusals that an operation documents, by status. */
const replayed = new Set(
  [...storedRefusals, 'ServiceUnavailable' as const].map((tag) => replyTo(tag).error.code),
)

const codesOf = ({
  api,
  pointer,
  operation,
}: (typeof cases)[number]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.keys(operation.responses)
      .filter(isRefusal)
      .map((status) => [
        status,
        Object.keys(
          partAt(api, `${pointer}/responses/${status}`).content['application/json'].examples,
        ).toSorted(),
      ]),
  )

const documentedCodes = (api: (typeof documents)[number]): ReadonlySet<string> =>
  new Set(
    cases.filter((one) => one.api === api).flatMap((one) => Object.values(codesOf(one)).flat()),
  )

it('every code is documented, on a route that can answer it', () => {
  const codes = (Object.keys(errorTable) as readonly RefusalTag[]).map(
    (tag) => replyTo(tag).error.code,
  )
  // Only without the capability pending-orders.
  const ofCapabilitiesOff = [replyTo('OrderTypeNotSupported').error.code]
  expect(
    new Set([...documents.flatMap((api) => [...documentedCodes(api)]), ...ofCapabilitiesOff]),
  ).toEqual(new Set(codes))
})

it.each(documents)('the document for $name lists its codes and no other', (api) => {
  const listed: readonly string[] = partAt(api, '/components/schemas/Error/properties/code').enum
  const all = [...documentedCodes(api), 'HEADERS_TOO_LARGE', 'REQUEST_TIMEOUT']
  expect(listed.toSorted()).toEqual(all.toSorted())
})

it.each(cases)(
  '$name documents who may call it, one success, every refusal of its route and no other, and its headers',
  (one) => {
    const { api, route, operation, pointer } = one
    const schemes = api === users ? [{ apiKey: [] }, { accessToken: [] }] : [{ operatorToken: [] }]
    const isPublic = route.access.kind === 'public'
    expect(operation['security']).toEqual([...(isPublic ? [{}] : []), ...schemes])
    const expected = Map.groupBy([...route.refusals].map(replyTo), ({ status }) => String(status))
    expect(codesOf(one)).toEqual(
      Object.fromEntries(
        [...expected].map(([status, of]) => [status, of.map(({ error }) => error.code).toSorted()]),
      ),
    )
    expect(
      Object.keys(operation.responses).filter((status) => status.startsWith('20')),
    ).toHaveLength(1)
    for (const status of Object.keys(operation.responses)) {
      const { headers } = partAt(api, `${pointer}/responses/${status}`)
      expect(['X-Request-ID' in headers, 'X-RateLimit-Limit' in headers]).toEqual([
        true,
        api === users && status !== 'default',
      ])
      const isReplayed = codesOf(one)[status]?.some((code) => replayed.has(code))
      const hasKey = 'Idempotency-Key' in route.headers
      expect('Idempotent-Replayed' in headers).toBe(
        hasKey && (status.startsWith('20') || isReplayed === true),
      )
    }
    expect(operation.responses).toHaveProperty('default')
    // What a route can be refused for whatever it does. A body is received where there is one, and
    // searched for a credential where one is needed.
    const receivesBody = route.body !== undefined || route.access.kind === 'scoped'
    const always = [
      'ValidationError',
      'InternalError',
      ...(isPublic ? [] : ['Unauthorized', 'ServiceUnavailable']),
      ...(receivesBody ? ['PayloadTooLarge'] : []),
    ]
    expect(always.filter((tag) => !route.refusals.has(tag as RefusalTag))).toEqual([])
  },
)

// Generated clients name their methods so.
it('the operations of the operator have these names', () => {
  const names =
    'applyDocument planDocument listTenants getTenant getProviderAccount listUsers listTenantAccounts listApiKeys listAccessTokens listDesks listOrdersUnderWay getOrder finishOrder rotateSecrets checkService checkTenant'
  expect(operator.operations.map(({ operation }) => operation.operationId).join(' ')).toBe(names)
})

it.each(documents)(
  'the document for $name has no operation without a route',
  ({ document, routes }) => {
    expect(Object.values(document.paths).flatMap((item) => Object.keys(item))).toHaveLength(
      routes.length,
    )
  },
)

it('the document for users has the eight events and the headers with which they are posted', () => {
  expect(Object.keys(users.document.webhooks)).toEqual(webhookEventTypes)
  for (const { post } of Object.values(users.document.webhooks) as readonly Json[])
    expect(post.parameters.map((parameter: Json) => parameter.name)).toEqual([
      'X-Webhook-Signature',
      'X-Webhook-Id',
      'X-Webhook-Event',
      'X-Webhook-Timestamp',
      'X-Webhook-Delivery-Id',
      'User-Agent',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ])
})

it.each([
  {
    document: users.document,
    path: '/api/v1/openapi.json',
    start: () => runApi(),
  },
  {
    document: operator.document,
    path: '/operator/openapi.json',
    start: () => runOperatorApi(),
  },
])(
  'GET $path answers the document to everybody, without the envelope',
  async ({ document, path, start }) => {
    await using api = await start()
    const reply = await send(api, path, { headers: {} })
    expect(reply).toMatchObject({ status: 200, json: document })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=60',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^req_/),
    })
  },
)

it('a route fits its use case and lists exactly its refusals, or does not compile', () => {
  const route = routesOf<{
    readonly example: (
      caller: unknown,
      input: { readonly id: string },
    ) => AsyncResult<number, 'AccountNotFound'>
  }>()
  const fitting = {
    access: anybody,
    params: { id: anyText('', '') },
    data: whole(''),
    refusals: ['AccountNotFound'],
  } as const
  expect(route('GET /:id', 'example', '', fitting).refusals).toContain('AccountNotFound')
  // @ts-expect-error: there is no use case of this name
  route('GET /:id', 'other', '', fitting)
  // @ts-expect-error: the use case needs the id
  route('GET /:id', 'example', '', { ...fitting, params: {} })
  // @ts-expect-error: the use case returns a number
  route('GET /:id', 'example', '', { ...fitting, data: flag('') })
  // @ts-expect-error: a refusal is missing
  route('GET /:id', 'example', '', { ...fitting, refusals: [] })
  // @ts-expect-error: a refusal cannot occur
  route('GET /:id', 'example', '', { ...fitting, refusals: ['AccountNotFound', 'TradeNotFound'] })
})

it('without any capability, nothing of what they add is accepted or documented', async () => {
  await using api = await runApi({}, fakeDependencies({ capabilities: [] }))
  const ask = (path: string, request?: SentRequest) => send(api, `/api/v1${path}`, request)
  const sent = jsonRequest('POST', { ...webhookBody, eventTypes: ['order.expired'] })
  expect(issuesOf(await ask('/webhooks', sent)).map(({ message }) => message)).toEqual([
    `eventTypes[0] must be one of ${eventTypesOf(false).join(', ')}; got "order.expired"`,
  ])
  expect(issuesOf(await ask('/trades/stats?extended=true'))).toMatchObject([{ path: 'extended' }])
  // The id of a trade.
  expect((await ask('/trades/curve')).text).toContain('"positionId":"1"')
  for (const path of ['/me', '/events', '/trades/1/deals', `/accounts/${accountId}/reconciliation`])
    expect((await ask(path)).status).toBe(404)
  expect((await ask('/openapi.json')).text).not.toMatch(
    /order[._](rejected|expired)|webhook-signature"|EVENT_GONE|STREAM_LIMIT_REACHED|ORDER_TYPE_NOT_SUPPORTED_BY_PLATFORM|ACCOUNT_HALTED|executed, which it must|stop-limit|SYMBOL_AMBIGUOUS|NOT_AVAILABLE_ON_PLATFORM|BrokerInstrument|quotes\/stream|extended|sortinoRatio|TradeCurve/,
  )
})

it('only with market-data is a symbol documented as ambiguous', () => {
  const document = createOpenApiDocument(['pending-orders', 'trading-tools'])
  expect(JSON.stringify(document)).not.toContain('SYMBOL_AMBIGUOUS')
})
