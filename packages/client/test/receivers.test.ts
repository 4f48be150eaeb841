// The receivers of the README as separate programs, over real HTTP.
import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const secret = 'a-secret-of-32-characters-or-so!'
const sign = (body: string | Buffer, key = secret) =>
  `sha256=${createHmac('sha256', key).update(body).digest('hex')}`

const filled = JSON.stringify({
  event: 'order.filled',
  // Other JSON writers escape this character.
  data: { order_id: 'ord_1', symbol: 'EURUSD\u00e9', fill_price: 1.0865 },
  timestamp: new Date().toISOString(),
  webhook_id: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c',
}).replaceAll('":', '" : ')

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe.each(['koa', 'express'])('the receiver with %s', (name) => {
  const file = join(import.meta.dirname, 'receivers', `${name}.ts`)
  let receiver: ChildProcess
  let url: string
  let printed = ''

  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}/`
    receiver = spawn(
      process.execPath,
      ['--conditions=@tradeport/source', '--experimental-strip-types', file],
      {
        env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret, NODE_NO_WARNINGS: '1' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    receiver.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    while (
      !(await fetch(url).then(
        () => true,
        () => false,
      ))
    ) {
      if (receiver.exitCode !== null)
        throw new Error(`the receiver ended with ${receiver.exitCode}`)
      await wait(50)
    }
  })
  afterAll(async () => {
    receiver.kill()
    await once(receiver, 'exit')
  })

  const post = (body: string, signature: string | undefined) =>
    fetch(url, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        ...(signature === undefined ? {} : { 'X-Webhook-Signature': signature }),
      },
    })

  it('is that of the README', () => {
    const [, ...shown] = readFileSync(file, 'utf8').split('\n')
    expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(
      `\`\`\`ts\n${shown.join('\n')}\`\`\``,
    )
  })

  it('accepts a genuine event', async () => {
    expect((await post(filled, sign(filled))).status).toBe(204)
    await expect.poll(() => printed).toContain('ord_1 was filled at 1.0865')
  })

  it('answers 401 to another body, another secret, and no signature', async () => {
    const before = printed
    expect((await post(filled.replace('1.0865', '9.0865'), sign(filled))).status).toBe(401)
    expect((await post(filled, sign(filled, 'another secret'))).status).toBe(401)
    expect((await post(filled, undefined)).status).toBe(401)
    expect(printed).toBe(before)
  })
})
