// What makes the composed service read credentials again.
import { refuse } from '@tradeport/domain/errors'
import type { CallerAddress, PeerNotice } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { emptyDocument } from '@tradeport/domain/operator'
import { createFakeBroker } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import { composeUseCases, type Adapters } from '../src/compose.ts'

const owner = { tenantId: 'acme', userId: 'u-1' } as Owner
const credential = {
  kind: 'api_key',
  id: 'k-1',
  owner,
  plan: 'free',
  enabled: true,
  expiresAt: null,
}
const clock = { now: () => 1_000_000 }

const emptyPorts = Object.fromEntries(
  ['accounts', 'marketDataFeeds', 'operator', 'records', 'operatorOrders', 'positionTrading'].map(
    (name) => [name, {}],
  ),
)

/** The ports that the tests reach. `reads` counts those of a token. */
const setUp = (fields: object = {}) => {
  const counted = { reads: 0 }
  const subscribers: ((notice: PeerNotice) => void)[] = []
  const adapters = {
    clock,
    broker: createFakeBroker(clock),
    credentials: {
      findAccessToken: () => async () => {
        counted.reads += 1
        return E.right(O.some(credential))
      },
    },
    peerNotices: {
      subscribe: (receive: (notice: PeerNotice) => void) => subscribers.push(receive),
      confirmedAt: clock.now,
    },
    secrets: { hash: (secret: string) => secret },
    addressLimits: { wasAccepted: () => true, recordAccepted: () => undefined },
    capabilities: [],
    ...emptyPorts,
    ...fields,
  } as unknown as Adapters
  const { useCases, operatorUseCases } = composeUseCases(adapters)
  const presented = {
    apiKey: undefined,
    accessToken: 'token',
    address: 'here' as CallerAddress,
    isAllowedBy: () => true,
  }
  const identify = async () =>
    expect(await useCases.identifyCaller(presented)()).toEqual(E.right(credential))
  const notify = (notice: PeerNotice) => {
    for (const receive of subscribers) receive(notice)
  }
  return { counted, operatorUseCases, identify, notify }
}

it('reads a credential again once notices were missed', async () => {
  const service = setUp()
  await service.identify()
  service.notify({ kind: 'notices_missed' })
  await service.identify()
  expect(service.counted.reads).toBe(2)
})

it('reads a credential again after a document of unknown outcome', async () => {
  const left = refuse('ServiceUnavailable', { reason: 'no answer', outcome: 'unknown' })
  const service = setUp({ operator: { apply: () => TE.left(left) } })
  await service.identify()
  expect(
    await service.operatorUseCases.applyDocument(undefined, { body: emptyDocument })(),
  ).toEqual(E.left(left))
  await service.identify()
  expect(service.counted.reads).toBe(2)
})
