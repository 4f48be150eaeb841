// A caller tells of everything that a service answers wrongly: held against a server that does.
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createContractWatch } from '@tradeport/contract-watch'
import { afterEach, describe, expect, it } from 'vitest'
import { createCaller, newTally } from '../../src/hostile/caller.ts'
import { createKnown } from '../../src/hostile/known.ts'
import type { HostileRequest } from '../../src/hostile/request.ts'

const schema = { type: 'object', properties: { success: { enum: [true] }, data: { type: 'string' } }, required: ['success', 'data'] }
const document = {
  servers: [{ url: '/api/v1' }],
  paths: {
    '/things': {
      get: { responses: { 200: { content: { 'application/json': { schema } } } } },
      put: {
        requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } } },
        responses: { 200: { content: { 'application/json': { schema } } } },
      },
    },
  },
  webhooks: {},
  components: { schemas: { Error: { type: 'object' } } },
}
const headers = {
  'Content-Type': 'application/json',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'",
  'Referrer-Policy': 'no-referrer',
}
const request: HostileRequest = { listener: 'api', method: 'GET', target: '/api/v1/things', headers: [], body: undefined }

const put = (text: string): HostileRequest => ({
  ...request,
  method: 'PUT',
  body: { bytes: Buffer.from(text).toString('latin1'), padding: 0, chunkBytes: undefined },
})

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

const faultsWhere = async (answer: RequestListener, sent: Parameters<ReturnType<typeof createCaller>['send']>[0] = request) => {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const known = createKnown([{}])
  const target = { apiPort: port, operatorPort: port }
  const watch = createContractWatch(document)
  const caller = createCaller({ target, watches: { api: watch, operator: watch }, known, fill: known.fill, tally: newTally() })
  const faults = await caller.send(sent)
  caller.close()
  return faults
}
const replying =
  (status: number, body: object): RequestListener =>
  (_, response) =>
    response.writeHead(status, headers).end(JSON.stringify(body))
const raw = { listener: 'api', pieces: ['GET /api/v1/things HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2)], most: 2 } as const

describe('a caller', () => {
  it('has nothing to say of what is as the document says', async () => {
    expect(await faultsWhere(replying(200, { success: true, data: '' }))).toEqual([])
    expect(await faultsWhere(replying(200, { success: true, data: '' }), raw)).toEqual([])
  })

  it('tells of a field that the document does not tell', async () => {
    expect(await faultsWhere(replying(200, { success: true, data: '', more: 1 }))).toEqual([
      expect.stringContaining('additional properties'),
    ])
  })

  it('tells of a status that the document does not tell, and of a 500', async () => {
    const body = { success: false, data: null, error: { code: 'NOT_FOUND', message: 'No.' } }
    expect(await faultsWhere(replying(410, body))).toEqual([expect.stringContaining('410 is not told')])
    expect(await faultsWhere(replying(500, body))).toEqual([
      expect.stringContaining('it is a 500'),
      expect.stringContaining('500 is not told'),
    ])
    expect(await faultsWhere(replying(500, body), raw)).toHaveLength(2)
  })

  it('tells of a body that was taken though the document does not take it, and not of a mark before one', async () => {
    const answer = replying(200, { success: true, data: '' })
    expect(await faultsWhere(answer, put('\u{feff}{"name":"a"}'))).toEqual([])
    expect(await faultsWhere(answer, put('{"name":1}'))).toEqual([expect.stringContaining('a body was taken')])
  })

  it('tells of a connection that is cut without a reply', async () => {
    expect(await faultsWhere((_, response) => response.destroy())).toEqual(['the connection was ended without a reply'])
  })

  it('tells of an answer to what was smuggled', async () => {
    expect(await faultsWhere(replying(200, { success: true, data: '' }), { ...raw, most: 1 })).toEqual([
      '2 replies, where there is at most 1',
    ])
  })
})
