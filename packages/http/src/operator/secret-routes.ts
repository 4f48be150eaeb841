// POST /operator/v1/secrets/rotate: seals secrets under the current key, batch by batch, so that no request takes long and any may be the last.
import * as O from 'fp-ts/lib/Option.js'
import { closedObject, maybe, numberOf, stringOf } from '../requests/json-codecs.ts'
import type { Route } from '../routing/route.ts'
import type { OperatorUseCases } from '../use-cases.ts'
import { operatorRoute } from './operator-route.ts'

const largestBatch = 1_000
const usualBatch = 100

interface RotationBody {
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

const rotationBody = closedObject<RotationBody>('Rotation', {
  cursor: maybe(stringOf('the cursor of the batch before', O.some)),
  limit: maybe(
    numberOf(`a whole number from 1 to ${largestBatch}`, (value) => Number.isSafeInteger(value) && value >= 1 && value <= largestBatch),
  ),
})

export const secretRoutes: readonly Route<OperatorUseCases>[] = [
  operatorRoute({
    method: 'POST',
    path: '/secrets/rotate',
    summary:
      'Seals a batch of secrets under the current key; the cursor of the answer leads to the next batch, and is null after the last.',
    body: rotationBody,
    useCase: (useCases: OperatorUseCases, { body: { cursor, limit = usualBatch } }) => useCases.rotateSecrets({ cursor, limit }),
    present: ({ resealed, unreadable, cursor = null }) => ({ kind: 'data', data: { resealed, unreadable, cursor } }),
  }),
]
