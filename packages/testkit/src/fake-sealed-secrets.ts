// The secrets of the records in memory, all sealed under an earlier key until they are sealed
// again.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { secretKinds, type SealedSecret } from '@tradeport/domain/operator'
import type { SealedSecrets } from '@tradeport/domain/ports'
import type { FakeRecords } from './fake-records.ts'

export const createFakeSealedSecrets = (records: FakeRecords): SealedSecrets => {
  const resealed = new Set<string>()
  const all = (): readonly SealedSecret[] =>
    [
      ...[...records.tables.tenants.values()].flatMap(({ id, providerToken }) =>
        providerToken === null ? [] : [{ kind: 'provider_token', id } as const],
      ),
      ...[...records.tables.webhooks.values()].map(
        ({ webhook: { id } }) => ({ kind: 'webhook_secret', id }) as const,
      ),
    ].toSorted(compare)
  const others = () => all().filter(({ id }) => !resealed.has(id))
  return {
    reseal: ({ after, limit }) =>
      TE.fromIO(() => {
        const batch = others()
          .filter((secret) => after === undefined || compare(secret, after) > 0)
          .slice(0, limit)
        for (const { id } of batch) resealed.add(id)
        return {
          resealed: batch.length,
          unreadable: [],
          last: batch.length === limit ? batch.at(-1) : undefined,
        }
      }),
    census: TE.fromIO(() => ({ current: all().length - others().length, others: others().length })),
  }
}

const compare = (a: SealedSecret, b: SealedSecret): number =>
  secretKinds.indexOf(a.kind) - secretKinds.indexOf(b.kind) ||
  Number(a.id > b.id) - Number(a.id < b.id)
