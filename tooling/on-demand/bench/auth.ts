// What finding a key costs where a million are stored against where a thousand are: by its hash
// through the store, with its user's plan, and with no cache in between. Two databases side by
// side, asked in turn.
import { createHash, randomInt } from 'node:crypto'
import type { CredentialHash } from '@tradeport/domain/access'
import { createCredentialStore, openDatabase } from '@tradeport/postgres'
import { createDatabase, timeAlternately, type Bench, type CloseLater } from './bench.ts'

const few = 1_000
const many = 1_000_000
const keysPerUser = 4
const lookups = 1_000
const rounds = 15

export const authBench: Bench = {
  name: 'auth',
  needsServer: true,
  run: async (server, closeLater) => {
    const small = await openStore(server, few, closeLater)
    const large = await openStore(server, many, closeLater)
    const { ours, reference } = await timeAlternately(rounds, large, small)
    return [
      {
        name: `finding whose a key is among ${many}`,
        ours: ours.ms,
        reference: reference.ms,
        target: 1.2,
        against: `the same among ${few}; ${lookups} keys drawn one after the other on a PostgreSQL server, medians of ${rounds} rounds in turn`,
      },
    ]
  },
}

/** @returns what looks up keys in a database of so many */
const openStore = async (
  server: string,
  keys: number,
  closeLater: CloseLater,
): Promise<() => Promise<void>> => {
  const url = await createDatabase(server, closeLater)
  // All keys are added by one statement.
  const database = await openDatabase({ url, statementTimeoutMs: 0 })
  closeLater(database.close)
  const { knex } = database
  await knex.raw(`insert into tenants (id, name) values ('bench', 'Bench')`)
  await knex.raw(
    `insert into users (id, tenant_id, email, plan)
     select 'u-' || n, 'bench', 'bench@example.com', 'free' from generate_series(0, ?::int) n`,
    [Math.ceil(keys / keysPerUser)],
  )
  await knex.raw(
    `insert into api_keys (tenant_id, id, user_id, name, hash, scopes, ip_allowlist, enabled)
     select 'bench', 'k-' || n, 'u-' || n / ?::int, 'bench', encode(sha256(convert_to(n::text, 'utf8')), 'hex'), '{accounts:read}', '{}', true
     from generate_series(0, ?::int) n`,
    [keysPerUser, keys - 1],
  )
  // What new rows leave for later is done now, so that it is not counted.
  await knex.raw('vacuum analyze users')
  await knex.raw('vacuum analyze api_keys')
  await knex.raw('checkpoint')
  const store = createCredentialStore(database)
  return async () => {
    for (let drawn = 0; drawn < lookups; drawn += 1) {
      const found = await store.findApiKey(hashOf(randomInt(keys)))()
      if (found._tag === 'Left' || found.right._tag === 'None')
        throw new Error('a key that is stored was not found')
    }
  }
}

const hashOf = (key: number): CredentialHash =>
  createHash('sha256').update(String(key)).digest('hex') as CredentialHash
