// Makes credentials and ids with the platform's randomness, and hashes credentials with SHA-256.
import { hash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { generateApiKey } from '@tradeport/domain/access'
import type { CredentialHash } from '@tradeport/domain/access'
import type { OrderId } from '@tradeport/domain/orders'
import type { Secrets } from '@tradeport/domain/ports'
import type { DeliveryId, WebhookId } from '@tradeport/domain/primitives'

const secretBytes = 32

export const newSecret = (): string => randomBytes(secretBytes).toString('base64url')

const orderIdAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
const orderIdLength = 20

export const newOrderId = (): OrderId =>
  `ord_${Array.from({ length: orderIdLength }, () => orderIdAlphabet[randomInt(orderIdAlphabet.length)]).join('')}` as OrderId

export const newWebhookId = (): WebhookId => randomUUID() as WebhookId

export const newDeliveryId = (): DeliveryId => randomUUID() as DeliveryId

export const newWebhookSecret = (): string => randomBytes(secretBytes).toString('hex')

export const secrets: Secrets = {
  newApiKey: () => generateApiKey(randomInt),
  newAccessToken: newSecret,
  hash: (secret) => hash('sha256', secret) as CredentialHash,
}
