// Webhooks made, changed, tested and deleted; deliveries sent again; and keys that come and go.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { breathe, pickFrom, skip, withFree } from './scene.ts'
import type { Arrival, Kind } from './scene.ts'

const eventTypes = ['order.created', 'order.filled', 'position.closed', 'trade.closed']

const aWebhooksLife = ({ scene, random, ask }: Arrival): Promise<void> =>
  withFree(scene, random, scene.population.subscribers, async ({ credential }) => {
    const { data } = await ask('POST /webhooks', { credential, body: { url: scene.urlOf('fine'), eventTypes } })
    const { id } = data
    try {
      await ask('GET /webhooks/{id}', { credential, id })
      await breathe(random)
      await ask('PUT /webhooks/{id}', { credential, id, body: { eventTypes: ['order.filled'], enabled: random.whole(0, 1) === 0 } })
      await ask('GET /webhooks', { credential })
      await ask('POST /webhooks/{id}/test', { credential, id, isSlow: true })
      await ask('GET /webhooks/{id}/deliveries', { credential, id })
    } finally {
      await ask('DELETE /webhooks/{id}', { credential, id })
    }
    await ask('GET /webhooks/{id}', { credential, id, expects: ['NOT_FOUND'] })
  })

const sendAgain = async ({ scene, random, ask }: Arrival): Promise<void> => {
  const { id: userId, credential } = pickFrom(random, scene.population.traders)
  const id = scene.webhooks.get(userId) ?? ''
  const { data } = await ask('GET /webhooks/{id}/deliveries', { credential, id, query: 'limit=1&status=success' })
  if (data.length === 0) return skip(scene, 'nothing was delivered yet')
  await ask('POST /webhooks/{id}/deliveries/{deliveryId}/replay', { credential, id, deliveryId: data[0].id })
}

const testFailing = async ({ scene, ask }: Arrival): Promise<void> => {
  if (scene.failingWebhook === undefined) return
  const { owner, id } = scene.failingWebhook
  await ask('POST /webhooks/{id}/test', { credential: owner.credential, id, isSlow: true })
}

/** It is disabled after five failures, and fails on from here. */
const switchOnAgain = async ({ scene, ask }: Arrival): Promise<void> => {
  if (scene.failingWebhook === undefined) return
  const { owner, id } = scene.failingWebhook
  await ask('PUT /webhooks/{id}', { credential: owner.credential, id, body: { enabled: true } })
}

/** A revocation counts within a second. */
const revokedMs = 1_100

const aKeysLife = async ({ scene, random, ask }: Arrival): Promise<void> => {
  const { id: userId } = pickFrom(random, scene.population.readers)
  const id = `soak-key-${randomUUID()}`
  const key = `tp_live_${randomUUID()}`
  const credential = { 'X-API-Key': key }
  await scene.apply({ apiKeys: [{ id, userId, key, scopes: ['accounts:read'] }] })
  try {
    await ask('GET /accounts', { credential })
    await scene.apply({ apiKeys: [{ id, userId, enabled: false }] })
    await pause(revokedMs)
    await ask('GET /accounts', { credential, expects: ['UNAUTHORIZED'] })
  } finally {
    await scene.apply({ apiKeys: [{ id, removed: true }] })
  }
}

export const webhookWork: readonly Kind[] = [
  { name: 'the life of a webhook', weight: 0.5, run: aWebhooksLife },
  { name: 'a delivery sent again', weight: 0.3, run: sendAgain },
  { name: 'a test that fails', weight: 0.1, run: testFailing },
  { name: 'a webhook switched on again', weight: 0.1, run: switchOnAgain },
  { name: 'the life of a key', weight: 0.3, run: aKeysLife },
]
