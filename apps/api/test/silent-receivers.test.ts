// Receivers of many users accept every connection and never answer. Events of other users arrive all the same, before any silent attempt has timed out.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnService } from './support/child-service.ts'
import type { ChildService } from './support/child-service.ts'
import { eventually, openDesk } from './support/order-desk.ts'
import type { OrderDesk } from './support/order-desk.ts'
import { applyDocument, copyDatabase, providerToken } from './support/running-service.ts'
import { environmentOf } from './support/start-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'
import { createAuthority, startWebhookReceiver } from './support/webhook-receiver.ts'
import type { WebhookReceiver } from './support/webhook-receiver.ts'

const silentUsers = 12
const webhooksOfEach = 10
const scopes = ['trading:read', 'trading:write', 'webhooks:read', 'webhooks:write']

interface SilentReceiver {
  readonly origin: string
  /** Connections made so far, and those that the service has ended. */
  readonly connections: () => { readonly made: number; readonly ended: number }
  readonly close: () => Promise<void>
}

const startSilentReceiver = async (): Promise<SilentReceiver> => {
  const sockets = new Set<Socket>()
  let ended = 0
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.resume()
    socket.on('error', () => undefined)
    socket.on('close', () => (ended += 1))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => ({ made: sockets.size, ended }),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

let folder: string
let sandbox: Sandbox
let silent: SilentReceiver
let healthy: WebhookReceiver
let child: ChildService
let desks: OrderDesk[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-silent-'))
  copyDatabase(folder)
  const authority = await createAuthority(folder)
  silent = await startSilentReceiver()
  healthy = await startWebhookReceiver(authority)
  const users = Array.from({ length: silentUsers + 1 }, (_, n) => n)
  sandbox = await startSandbox({ seed: 7, tokens: [providerToken], accounts: users.map((n) => ({ id: `p-${n}` })) })
  child = spawnService({
    ...environmentOf(folder, sandbox.url),
    CAPABILITIES: 'events',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: authority.file,
  })
  const { api, operator } = await child.listening
  desks = users.map((n) => openDesk({ apiUrl: api }, { key: `tp_live_only_for_automated_tests_user_${n}`, accountId: newAccountUuid(n) }))
  for (const n of users) {
    const user = { tenant: `tenant-${n}`, user: `u-${n}`, key: `tp_live_only_for_automated_tests_user_${n}`, providerToken }
    const document = linkDocument(user, [{ id: newAccountUuid(n), providerAccountId: `p-${n}` }], scopes)
    expect((await applyDocument(operator, document)).status).toBe(200)
  }
}, 240_000)
afterAll(async () => {
  await silent?.close()
  await child?.stop()
  await sandbox?.close()
  await healthy?.close()
  await rm(folder, { recursive: true, force: true })
})

const create = async (desk: OrderDesk, url: string): Promise<void> => {
  expect((await desk.call('POST', '/webhooks', { url, eventTypes: ['order.created'] })).status).toBe(201)
}

describe('receivers that never answer', () => {
  it('delay no event of another user', async () => {
    const [first, ...others] = desks
    if (first === undefined) return expect.fail('no user')
    await create(first, `${healthy.origin}/hook`)
    for (const desk of others) for (let made = 0; made < webhooksOfEach; made++) await create(desk, `${silent.origin}/hook`)
    await Promise.all(others.map((desk) => desk.place()))
    await eventually(silent.connections, ({ made }) => made >= 100)
    await first.place()
    await eventually(
      () => healthy.received,
      ({ length }) => length === 1,
    )
    expect(silent.connections().ended).toBe(0)
  }, 240_000)
})
