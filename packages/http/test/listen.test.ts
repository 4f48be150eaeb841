// The listener: its address, and what it does with requests that never become one (8, input limits).
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createApi, listen } from '../src/index.ts'
import { fakeEdge, fakeUseCases, runApi, send } from './fakes.ts'

const answerTo = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.end(text))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })

describe('the listener', () => {
  it('rejects when the address is taken', async () => {
    await using api = await runApi()
    const app = createApi(fakeUseCases(), fakeEdge())
    await expect(listen(app, { host: '127.0.0.1', port: api.port })).rejects.toThrow('EADDRINUSE')
  })

  it('refuses a head above 16 KiB and what is no HTTP, and goes on', async () => {
    await using api = await runApi()
    expect((await send(api, `/api/v1/symbols?search=${'x'.repeat(20_000)}`)).status).toBe(431)
    expect(await answerTo(api.port, 'HELLO\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect(await answerTo(api.port, 'GET /api/v1/symbols HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect((await send(api, '/api/v1/symbols')).status).toBe(200)
  })
})
