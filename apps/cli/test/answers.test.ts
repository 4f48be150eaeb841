// Services that answer only in part: what the command line then prints, and what it says to do.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { call, token } from './service.ts'

const advice =
  'The key k may exist but cannot be shown again. Revoke it with pnpm operator keys revoke k and create another.'
const error = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'It may have been made.',
  details: { outcome: 'unknown' },
  request_id: 'req_1',
}
const reply = (response: ServerResponse, fields: object) =>
  void response.end(JSON.stringify({ success: true, data: null, meta: {}, error: null, ...fields }))

const refusing =
  (status: number, fields: object = {}) =>
  (response: ServerResponse) =>
    reply(response.writeHead(status), { success: false, error: { ...error, ...fields } })

/** Calls a service that answers so. */
const callAnswered = async (
  answer: (response: ServerResponse, path: string) => void,
  words: string,
  { protocol = 'http', input = '' } = {},
) => {
  const server = createServer(({ url = '' }, response) => answer(response, url)).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const env = {
    OPERATOR_URL: `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OPERATOR_TOKEN: token,
  }
  const called = await call(words, env, input)
  server.close()
  return called
}
const makeKey = 'keys make --user u-1 --id k'

it.each<[string, (response: ServerResponse) => void, readonly string[], string]>([
  [
    'breaks off',
    (response) => response.socket?.destroy(),
    ['was lost (UND_ERR_SOCKET): the change may have been made, or not.', advice],
    '',
  ],
  [
    'says that the outcome is unknown',
    refusing(503),
    ['lost its database', advice, 'more about the request req_1.'],
    '',
  ],
  [
    'says so to a program',
    refusing(503),
    ['"code":"OUTCOME_UNKNOWN"', JSON.stringify(advice), '"request_id":"req_1"'],
    '--json',
  ],
  [
    'is a failure of the service',
    refusing(500, { code: 'INTERNAL_ERROR', details: undefined }),
    ['failed with INTERNAL_ERROR: the change may have been made, or not.', advice, 'req_1'],
    '',
  ],
  [
    'is a redirect of a proxy',
    (response) => void response.writeHead(307, { Location: '/' }).end('{}'),
    [
      "answered 307 without the service's envelope: the change may",
      '--url or OPERATOR_URL',
      advice,
    ],
    '',
  ],
])('a change whose answer %s is neither done nor refused', async (_, answer, parts, option) => {
  const called = await callAnswered(answer, `${makeKey} ${option}`)
  expect(called).toMatchObject({ exit: 1, out: '' })
  for (const part of parts) expect(called.err).toContain(part)
})

it.each<
  [string, (response: ServerResponse) => void, { protocol?: string; input?: string }, string]
>([
  [
    'apply - --plan',
    (response) => response.socket?.destroy(),
    { input: 'users: []' },
    'cannot be reached',
  ],
  [
    'apply - --plan',
    refusing(500),
    { input: 'users: []' },
    "made.\nThe service's log has more about the request req_1.",
  ],
  [
    'apply - --plan',
    (response) => void response.end('<html>'),
    { input: 'users: []' },
    'it is not the operator API',
  ],
  [makeKey, (response) => reply(response, {}), { protocol: 'https' }, 'cannot be reached'],
  [
    makeKey,
    refusing(404, {
      code: 'NOT_FOUND',
      message: 'No route has this method and path.',
      details: undefined,
    }),
    {},
    'Name the listener of OPERATOR_HOST and OPERATOR_PORT with --url or OPERATOR_URL',
  ],
])('%s cannot have changed anything', async (words, answer, options, message) => {
  const called = await callAnswered((response) => answer(response), words, options)
  expect(called).toMatchObject({ exit: 1, out: '' })
  expect(called.err).toContain(message)
  expect(called.err).not.toContain('the change may have been made')
})

it('what was applied is printed, also where the orders that it touches cannot be read', async () => {
  const changes = [{ section: 'apiKeys', id: 'k', action: 'create', fields: [] }]
  const data = {
    changes,
    ordersUnderWay: null,
    apiKeys: [{ id: 'k', key: 'shown' }],
    accessTokens: [],
  }
  const { exit, out } = await callAnswered((response) => reply(response, { data }), makeKey)
  expect(exit).toBe(0)
  expect(out).toMatch(
    /^create apiKeys k\n\nWarning: the orders under way .* cannot be read now;[^]* key k {2}shown\n$/,
  )
})

/** Of the tenants on the first page one cannot be asked and three are gone; the second has a fault. */
const answerDoctor = (response: ServerResponse, path: string) => {
  const [, tenant] = /tenants\/(\w+)\/doctor$/.exec(path) ?? []
  if (tenant === 'b') return refusing(500)(response)
  if (tenant === 'gone') return refusing(404, { code: 'NOT_FOUND' })(response)
  if (path.includes('cursor=')) return refusing(503)(response)
  const tenants = ['b', 'gone', 'gone', 'gone', 'c'].map((id) => ({ id }))
  const meta = { pagination: { cursor: 'c' } }
  const check = { name: 'provider token', status: 'ok', message: 'It is accepted.', action: null }
  reply(response, path.includes('/tenants?') ? { data: tenants, meta } : { data: [check] })
}

it('the doctor reports a tenant that cannot be asked and a list that breaks off, and checks the others', async () => {
  const { exit, out } = await callAnswered(answerDoctor, 'doctor --json')
  expect(exit).toBe(1)
  expect(
    Object.values<{ tenant: unknown; status: unknown }>(JSON.parse(out).checks).map(
      ({ tenant, status }) => [tenant, status],
    ),
  ).toStrictEqual([
    [null, 'ok'],
    [null, 'ok'],
    [null, 'fail'],
    ['b', 'fail'],
    ['c', 'ok'],
  ])
})
