// A change that may have been made and may not: whoever called is told so, and what to do.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { call } from './service.ts'
import type { Called } from './service.ts'

/**
 * Calls a service that plans a key as a real one does, and answers what is to be changed as it is
 * told to.
 */
const makeKey = async (
  answer: (response: ServerResponse) => void,
  ...words: readonly string[]
): Promise<Called & { readonly url: string }> => {
  const planned = {
    changes: [{ section: 'apiKeys', id: 'k', action: 'create', fields: [] }],
    ordersUnderWay: [],
  }
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/plan') !== true) return answer(response)
    return response.end(JSON.stringify({ success: true, data: planned, meta: {}, error: null }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const environment = { OPERATOR_URL: url, OPERATOR_TOKEN: 'operator-token-for-tests' }
  const called = await call(['keys', 'make', '--user', 'u-1', '--id', 'k', ...words], {
    environment,
  })
  server.close()
  return { ...called, url }
}

const whatToDo =
  'If the key k was made, nobody will ever see it: pnpm operator keys revoke k, and make another.'

describe('a change that may have been made', () => {
  it('whose answer is lost is told neither as done nor as refused', async () => {
    const { exit, out, err } = await makeKey((response) => response.socket?.destroy())
    expect([exit, out]).toEqual([1, ''])
    expect(err).toContain('was lost (UND_ERR_SOCKET): it may have done what was asked, or not.\n')
    expect(err).toContain(whatToDo)
  })

  it('of which the service itself cannot say whether it stands is told so', async () => {
    const error = {
      code: 'SERVICE_UNAVAILABLE',
      message: 'It may stand.',
      details: { outcome: 'unknown' },
      request_id: 'req_1',
    }
    const answer = (response: ServerResponse): void => {
      response.writeHead(503).end(JSON.stringify({ success: false, data: null, meta: {}, error }))
    }
    const { exit, out, err, url } = await makeKey(answer)
    expect([exit, out]).toEqual([1, ''])
    expect(err).toBe(
      [
        `The service at ${url} lost its database while it recorded this: it may have done what was asked, or not.`,
        whatToDo,
        "The service's log tells more of the request req_1.",
        '',
      ].join('\n'),
    )
    const forPrograms = await makeKey(answer, '--json')
    expect(JSON.parse(forPrograms.err)).toMatchObject({
      error: { code: 'OUTCOME_UNKNOWN', advice: [whatToDo], request_id: 'req_1' },
    })
  })
})
