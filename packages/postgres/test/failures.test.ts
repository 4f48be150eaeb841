// What goes wrong in the database is ServiceUnavailable, with a reason that holds no value and no
// secret.
import type { AccountId } from '@tradeport/domain/primitives'
import {
  newAccount,
  newApiKey,
  newTenant,
  noChanges,
  noKeys,
  puts,
  rightOf,
  write,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { expect, it } from 'vitest'
import { describeFailure, type LogEvent } from '../src/connection/failures.ts'
import { openPool } from '../src/connection/pool.ts'
import { transactOrUnknown } from '../src/connection/sql.ts'
import { onEachDatabase, readingOf, storedAccount } from './harness.ts'

const unavailable = (reason: string) => E.left({ _tag: 'ServiceUnavailable', reason })
const account = newAccount({ tenantId: newTenant().id, userId: newApiKey('u' as never).userId })

it.each([
  ['55000', 'not accepting connections', ': not accepting connections'],
  ['53300', 'too many clients', ': too many clients'],
  ['57P01', 'select 1 - 2 - terminating', ': terminating'],
  ['57014', 'update t - canceling', ': canceling'],
  ['42501', 'permission denied for schema public', ': permission denied for schema public'],
  ['22P02', 'invalid input: value-secret', ''],
])('with the code %s and the message %s is reported as the code%s', (code, message, reason) => {
  expect(describeFailure(Object.assign(new Error(message), { code }))).toBe(code + reason)
})

it('of a connection is logged without the statement that knex names', async () => {
  const reasons: string[] = []
  const url = { connectionString: 'postgres://127.0.0.1:1/none' }
  const log = { warn: ({ reason }: LogEvent) => void reasons.push(reason) }
  const knex = openPool({ connection: url, size: { min: 0, max: 1 } }, 0, log)
  const { logger } = knex.client as { logger: { warn: (text: string) => void } }
  logger.warn('Connection Error: Error: with due as (\n  select 1 - 2) - Connection terminated')
  expect(reasons).toEqual(['Connection Error: Connection terminated'])
  await knex.destroy()
})

it('of a full disk is logged while it lasts, and one of a pooler says what to do', () => {
  const logged: LogEvent[] = []
  const log = { warn: (event: LogEvent) => void logged.push(event) }
  const knex = openPool({ connection: {}, size: { min: 0, max: 1 } }, 0, log)
  for (const code of ['53100', '53100', '42P05'])
    knex.emit('query-error', Object.assign(new Error('select 1 - no'), { code }))
  const reason = '53100: the disk of the database is full; free space on it'
  expect(logged).toEqual([{ event: 'disk_full', reason }])
  const pooled = Object.assign(new Error('prepared statement'), { code: '42P05' })
  expect(describeFailure(pooled)).toContain('a pooler in session mode')
})

onEachDatabase('a failure', (here) => {
  it('that the server answers to a commit leaves nothing unknown', async () => {
    const write = transactOrUnknown(here.knex, (trx) =>
      trx
        .raw('create temp table once (id int unique deferrable initially deferred)')
        .then(() => trx.raw('insert into once values (1), (1)')),
    )
    await expect(write).rejects.toMatchObject({ code: '23505' })
  })

  it('names the columns of a row that does not decode, and not their values', async () => {
    const { id, owner } = await storedAccount(here.operator)
    const odd = { trade_mode: 'odd-secret', purpose: 'odd-secret' }
    await here.knex('accounts').where({ id }).update(odd)
    const reason = `accounts.find: a row of accounts does not decode at purpose, trade_mode (id ${id})`
    expect(await here.accounts.find(owner, id)()).toStrictEqual(unavailable(reason))
  })

  it('of a key with a scope that this version does not know fails no key that is read with it', async () => {
    const { owner } = await storedAccount(here.operator)
    const [{ id, hash }, other] = [newApiKey(owner.userId), newApiKey(owner.userId)] as const
    await write(here.operator, { apiKeys: puts(newApiKey(owner.userId, { id, hash }), other) })
    await here
      .knex('api_keys')
      .where({ id })
      .update({ scopes: ['accounts:read', 'future:read'] })
    const reason = `credentials.findApiKey: a row of api_keys does not decode at scopes (id ${id})`
    expect(
      await Promise.all([hash, other.hash].map((one) => here.credentials.findApiKey(one)())),
    ).toMatchObject([unavailable(reason), E.right(O.some({ id: other.id }))])
  })

  it('of a statement is reported by its code and constraint, not its values', async () => {
    const { owner } = account
    expect(
      await here.accounts.snapshots(owner, 'value-secret' as AccountId, { limit: 1 })(),
    ).toStrictEqual(unavailable('accounts.snapshots: 22P02'))
    const changes = { ...noChanges, accounts: puts(account) }
    expect(await here.operator.apply(noKeys, () => E.right({ changes }))()).toStrictEqual(
      unavailable('operator.apply: 23503 on accounts_tenant_id_user_id_fkey'),
    )
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'of a reading with the figure %d stores nothing of it',
    async (equity) => {
      const stored = await storedAccount(here.operator)
      const reading = readingOf({ ...stored, figures: { ...stored.figures, equity } }, 0)
      expect(await here.accounts.recordReading(stored.owner, stored, reading)()).toStrictEqual(
        unavailable('accounts.recordReading: a number that is not finite'),
      )
      expect(
        await rightOf(here.accounts.snapshots(stored.owner, stored.id, { limit: 1 })),
      ).toStrictEqual([])
    },
  )
})
