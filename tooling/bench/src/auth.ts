// What finding a key costs where a million are stored against where a thousand are: by its hash
// through the store, with its user's plan, and with no cache in between. Two databases side by
// side, asked in turn.
import { createHash, randomInt } from 'node:crypto'
import type { CredentialHash } from '@tradeport/domain/access'
import { createCredentialStore, openDatabase } from '@tradeport/postgres'
import type { Database } from '@tradeport/postgres'
import type { Bench, CloseLater, Ratio } from './bench.ts'
import { closingAll, timeAlternately } from './bench.ts'
import { benchServer, createDatabase } from './server-database.ts'

const few = 1_000
const many = 1_000_000
/** What the embedded database takes in without a bench of minutes. */
const manyEmbedded = 100_000
const keysPerUser = 4
const lookups = 1_000
const rounds = 15

type LookUp = () => Promise<void>

const run = (): Promise<readonly Ratio[]> =>
  closingAll(async (closeLater) => {
    const server = benchServer()
    const most = server === undefined ? manyEmbedded : many
    const small = await stockUp(server, few, closeLater)
    const large = await stockUp(server, most, closeLater)
    const [ours, reference] = await timeAlternately(rounds, large, small)
    const place = server === undefined ? 'the embedded database' : 'a PostgreSQL server'
    return [
      {
        name: `finding whose a key is among ${most}`,
        ratio: ours.medianMs / reference.medianMs,
        target: 1.2,
        oursMs: ours.medianMs,
        referenceMs: reference.medianMs,
        reference: `the same among ${few}; ${lookups} keys drawn one after the other on ${place}, ${perLookup(ours.medianMs)} and ${perLookup(reference.medianMs)} ms each, medians of ${rounds} rounds in turn`,
      },
    ]
  })

export const authBench: Bench = { name: 'auth', run }

const perLookup = (ms: number): string => (ms / lookups).toFixed(3)

/** A database with so many keys. */
const stockUp = async (
  server: string | undefined,
  keys: number,
  closeLater: CloseLater,
): Promise<LookUp> => {
  const own = server === undefined ? undefined : await createDatabase(server)
  if (own !== undefined) closeLater(own.drop)
  const database = await openDatabase(
    own === undefined ? { inMemory: true, statementTimeoutMs: 0 } : { url: own.url },
  )
  closeLater(database.close)
  await fill(database, keys)
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

const step = 50_000

const fill = async ({ knex }: Database, keys: number): Promise<void> => {
  await knex.raw(`insert into tenants (id, name) values ('bench', 'Bench')`)
  const users = Math.ceil(keys / keysPerUser)
  await inSteps(users, (from, to) =>
    knex.raw(
      `insert into users (id, tenant_id, email, plan)
       select 'u-' || n, 'bench', 'bench@example.com', 'free' from generate_series(?::int, ?::int) n`,
      [from, to],
    ),
  )
  await inSteps(keys, (from, to) =>
    knex.raw(
      `insert into api_keys (tenant_id, id, user_id, name, hash, scopes, ip_allowlist, enabled)
       select 'bench', 'k-' || n, 'u-' || n / ?::int, 'bench', encode(sha256(convert_to(n::text, 'utf8')), 'hex'), '{accounts:read}', '{}', true
       from generate_series(?::int, ?::int) n`,
      [keysPerUser, from, to],
    ),
  )
  // What new rows leave for later is done now, so that it is not counted.
  for (const table of ['users', 'api_keys']) await knex.raw(`vacuum analyze ${table}`)
  await knex.raw('checkpoint')
}

/** From 0 to below the count, in pieces that no statement takes too long for. */
const inSteps = async (
  count: number,
  insert: (from: number, to: number) => PromiseLike<unknown>,
): Promise<void> => {
  for (let from = 0; from < count; from += step)
    await insert(from, Math.min(from + step, count) - 1)
}
