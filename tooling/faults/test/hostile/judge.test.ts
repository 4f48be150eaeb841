// What is said of a reply is what is wrong with it.
import { describe, expect, it } from 'vitest'
import { faultsOfReply } from '../../src/hostile/judge.ts'

const guards = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'"],
  ['Referrer-Policy', 'no-referrer'],
] as const
const headers = [...guards, ['X-Request-ID', 'req_1'], ['Content-Type', 'application/json; charset=utf-8']] as const
const refusal = { success: false, data: null, error: { code: 'NOT_FOUND', message: 'No.', request_id: 'req_1' } }
const faultsOf = (status: number, body: object | string, told: readonly (readonly [string, string])[] = headers, isHead = false) =>
  faultsOfReply({ status, headers: told, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), isLast: false }, isHead)

describe('judging a reply', () => {
  it('lets pass an answer, a refusal, a file and a head alone', () => {
    expect(faultsOf(200, { success: true, data: [], meta: { request_id: 'req_1' }, error: null })).toEqual([])
    expect(faultsOf(404, refusal)).toEqual([])
    expect(faultsOf(200, 'id,symbol', [...guards, ['Content-Type', 'text/csv']])).toEqual([])
    expect(faultsOf(404, '', headers, true)).toEqual([])
    expect(faultsOf(304, '')).toEqual([])
  })

  it.each([
    ['a 500', 500, refusal, headers],
    [
      'a code that says that the service is at fault',
      503,
      { ...refusal, error: { ...refusal.error, code: 'SERVICE_UNAVAILABLE' } },
      headers,
    ],
    ['a refusal without the envelope', 404, { error: 'no' }, headers],
    ['a refusal with data', 404, { ...refusal, data: [] }, headers],
    ['a refusal without words', 404, { ...refusal, error: { ...refusal.error, message: '' } }, headers],
    ['another request id in a refusal', 404, { ...refusal, error: { ...refusal.error, request_id: 'req_2' } }, headers],
    ['another request id in an answer', 200, { meta: { request_id: 'req_2' } }, headers],
    ['a refusal in HTML', 404, '<h1>No</h1>', [...guards, ['Content-Type', 'text/html']]],
    ['half of a body', 200, '{"success":', headers],
    ['a header sent twice', 404, refusal, [...headers, ['x-request-id', 'req_1']]],
    ['no guard', 404, refusal, headers.slice(1)],
  ] as const)('tells of %s', (_, status, body, told) => {
    expect(faultsOf(status, body, told)).toHaveLength(1)
  })

  it('tells of bytes that are no UTF-8', () => {
    expect(faultsOfReply({ status: 200, headers, body: Buffer.from([0x22, 0xff, 0x22]), isLast: false }, false)).toHaveLength(1)
  })
})
