// POST /operator/v1/secrets/rotate: one batch of secrets is sealed under the current key; the cursor leads to the next.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { InvalidCursor, ServiceUnavailable } from '../errors.ts'
import { readListCursor, writeListCursor } from '../operator/listing.ts'
import type { ListRequest } from '../operator/listing.ts'
import { parseSecretPlace, placeOfSecret } from '../operator/sealed-secrets.ts'
import type { ResealedBatch } from '../operator/sealed-secrets.ts'
import type { SealedSecrets } from '../ports/sealed-secrets.ts'

export interface RotatedBatch extends Omit<ResealedBatch, 'last'> {
  /** Undefined where nothing is left. */
  readonly cursor: string | undefined
}

const list = ['sealed-secrets']

export const rotateSecrets =
  (ports: { readonly sealedSecrets: Pick<SealedSecrets, 'reseal'> }) =>
  ({ cursor, limit }: ListRequest): TE.TaskEither<ServiceUnavailable | InvalidCursor, RotatedBatch> =>
    pipe(
      TE.fromEither(cursor === undefined ? E.right(undefined) : readListCursor(list, cursor, parseSecretPlace)),
      TE.flatMap((after) => ports.sealedSecrets.reseal({ after, limit })),
      TE.map(({ last, ...batch }) => ({
        ...batch,
        cursor: last === undefined ? undefined : writeListCursor(list, placeOfSecret(last)),
      })),
    )
