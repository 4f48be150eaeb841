// The sealed secrets in memory, as a fake of the port: a key is a number, and which one has sealed what is kept beside the records.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { secretKinds } from '../operator/sealed-secrets.ts'
import type { SealedSecret } from '../operator/sealed-secrets.ts'
import type { SealedSecrets } from '../ports/sealed-secrets.ts'
import { secretKey } from './fake-records.ts'
import type { FakeRecords } from './fake-records.ts'

/** @param previous keys that open and do not seal */
export const createFakeSealedSecrets = (records: FakeRecords, current: number, previous: readonly number[]): SealedSecrets => {
  const keyOf = (secret: SealedSecret): number => records.sealedUnder.get(secretKey(secret)) ?? 0
  return {
    reseal: ({ after, limit }) =>
      TE.fromIO(() => {
        const left = allSecrets(records).filter(
          (secret) => keyOf(secret) !== current && (after === undefined || compare(secret, after) > 0),
        )
        const batch = left.slice(0, limit)
        const readable = batch.filter((secret) => previous.includes(keyOf(secret)))
        const unreadable = batch.filter((secret) => !previous.includes(keyOf(secret)))
        for (const secret of readable) records.sealedUnder.set(secretKey(secret), current)
        return { resealed: readable.length, unreadable, last: batch.length === limit ? batch.at(-1) : undefined }
      }),
    census: TE.fromIO(() => {
      const all = allSecrets(records)
      const others = all.filter((secret) => keyOf(secret) !== current).length
      return { current: all.length - others, others }
    }),
  }
}

const allSecrets = ({ tables, idempotencyKeys }: FakeRecords): readonly SealedSecret[] =>
  [
    ...[...tables.tenants.values()]
      .filter(({ providerToken }) => providerToken !== null)
      .map(({ id }) => ({ kind: 'provider_token' as const, id })),
    ...[...tables.webhooks.values()].map(({ webhook: { id } }) => ({ kind: 'webhook_secret' as const, id })),
    ...[...idempotencyKeys.values()]
      .filter((held) => held.state === 'replied' && held.reply.isSecret)
      .map(({ claimId }) => ({ kind: 'kept_reply' as const, id: claimId })),
  ].toSorted(compare)

const compare = (a: SealedSecret, b: SealedSecret): number =>
  secretKinds.indexOf(a.kind) - secretKinds.indexOf(b.kind) || Number(a.id > b.id) - Number(a.id < b.id)
