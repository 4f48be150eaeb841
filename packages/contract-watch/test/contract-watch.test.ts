// What is told of a reply, by a document of one route; apps/api holds the service's own document
// against it.
import { describe, expect, it } from 'vitest'
import { createContractWatch, type HeardReply } from '../src/index.ts'

const thing = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const document = {
  servers: [{ url: '/v1' }],
  paths: {
    '/things/{id}': {
      get: { responses: { 200: { content: { 'application/json': { schema: thing } } } } },
    },
    '/a.json': { get: { responses: {} } },
  },
  webhooks: {},
  components: {
    schemas: {
      Error: { type: 'object', properties: { code: { enum: ['NOT_FOUND'] } }, required: ['code'] },
    },
  },
}

const faultsOf = (reply: Partial<HeardReply>): readonly string[] => {
  const watch = createContractWatch(document)
  const headers = [['Content-Type', 'application/json; charset=utf-8']] as const
  watch.hearReply({
    method: 'GET',
    url: '/v1/things/1',
    sent: undefined,
    status: 200,
    headers,
    text: '{"name":"a"}',
    ...reply,
  })
  return watch.takeFaults()
}
const notFound = { status: 404, text: '{"error":{"code":"NOT_FOUND"}}' }

describe('a watch over a document', () => {
  it('finds a field, a status and a header that it does not tell', () => {
    expect(faultsOf({})).toEqual([])
    expect(faultsOf({ text: '{"name":"a","age":1}' })).toEqual([
      expect.stringContaining('must NOT have additional properties'),
    ])
    expect(faultsOf({ status: 500 })).toEqual([expect.stringContaining('500 is not told')])
    expect(
      faultsOf({
        headers: [
          ['Content-Type', 'application/json'],
          ['X-Secret', '1'],
        ],
      }),
    ).toEqual([expect.stringContaining('the header x-secret is not told')])
  })

  it('takes a path without an origin to the letter', () => {
    expect(faultsOf({ ...notFound, url: '/v1/things/../things/1' })).toEqual([])
    expect(faultsOf({ url: 'http://127.0.0.1/v1/other/../things/1' })).toEqual([])
    expect(faultsOf({ url: '/v1/other/../things/1' })).toEqual([
      expect.stringContaining('200 is answered by what has no entry'),
    ])
  })

  it('takes a dot of a path for a dot', () => {
    expect(faultsOf({ ...notFound, url: '/v1/a-json' })).toEqual([])
    expect(faultsOf({ ...notFound, url: '/v1/a.json' })).toEqual([
      expect.stringContaining('404 is not told'),
    ])
  })
})
