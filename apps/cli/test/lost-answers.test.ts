// A change that may have been made, or not, or that somebody else made first: the call fails, and
// says what to do.
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
const reply = (response: ServerResponse, fields: object): void =>
  void response.end(JSON.stringify({ success: true, data: null, meta: {}, error: null, ...fields }))

/** Calls a service that plans the new key, and answers otherwise when it is to make it. */
const makeKey = async (answer: (response: ServerResponse) => void, option = '') => {
  const changes = [{ section: 'apiKeys', id: 'k', action: 'create', fields: [] }]
  const server = createServer((request, response) =>
    request.url?.endsWith('/plan') === true
      ? reply(response, { data: { changes, ordersUnderWay: [] } })
      : answer(response),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const called = await call(`keys make --user u-1 --id k ${option}`, {
    OPERATOR_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OPERATOR_TOKEN: token,
  })
  server.close()
  return called
}

it.each<[string, (response: ServerResponse) => void, readonly string[], string]>([
  [
    'breaks off',
    (response) => response.socket?.destroy(),
    ['was lost (UND_ERR_SOCKET): the change may have been made, or not.', advice],
    '',
  ],
  [
    'says that the outcome is unknown',
    (response) => reply(response.writeHead(503), { success: false, error }),
    ['lost its database', advice, 'more about the request req_1.'],
    '',
  ],
  [
    'says so to a program',
    (response) => reply(response.writeHead(503), { success: false, error }),
    ['"code":"OUTCOME_UNKNOWN"', JSON.stringify(advice), '"request_id":"req_1"'],
    '--json',
  ],
  [
    'is a failure of the service',
    (response) =>
      reply(response.writeHead(500), {
        success: false,
        error: { ...error, code: 'INTERNAL_ERROR', details: undefined },
      }),
    ['failed with INTERNAL_ERROR: the change may have been made, or not.', advice, 'req_1'],
    '',
  ],
  ['is a page', (response) => void response.end('<html>'), ['is not the operator API', advice], ''],
])('a change whose answer %s is neither done nor refused', async (_, answer, parts, option) => {
  const called = await makeKey(answer, option)
  expect(called).toMatchObject({ exit: 1, out: '' })
  for (const part of parts) expect(called.err).toContain(part)
})

it('a record that somebody else made after the plan is there, and is left alone', async () => {
  const message = 'new must not be true for a record that is there'
  const details = { issues: [{ path: 'apiKeys[0].new', message }] }
  const called = await makeKey((response) =>
    reply(response.writeHead(400), {
      success: false,
      error: { code: 'VALIDATION_ERROR', message, details },
    }),
  )
  expect(called).toMatchObject({ exit: 1, out: '' })
  expect(called.err).toContain('There already is key k, and nothing was changed.')
})
