// One process per embedded database, and nothing acknowledged is lost when that process is killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { requireBrokerAccount } from '@tradeport/domain'
import { newTenant, puts, rightOf, storedAccount, write } from '@tradeport/domain/testing'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockFolder } from '../src/folder-lock.ts'
import { openDatabase, openJournal } from '../src/index.ts'
import { migrations } from '../src/migrations/migrate.ts'
import { storesOn } from './open-stores.ts'

// Making a database anew takes seconds, and longer on a busy machine.
describe('an embedded database in a folder', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is found again as it was left, and its tables are made once', async () => {
    const tenant = newTenant()
    const first = await openDatabase({ folder })
    await write(storesOn(first).operator, { tenants: puts({ ...tenant, providerToken: 'provider-secret' }) })
    await first.close()
    const second = await openDatabase({ folder })
    expect(await second.knex('tenants').pluck('id')).toStrictEqual([tenant.id])
    expect(await second.knex('knex_migrations').pluck('name')).toStrictEqual(migrations.map(({ name }) => name))
    await second.close()
  })

  it('holds no claim of a process that died, so that its journals can be read at once', async () => {
    const first = await openDatabase({ folder })
    const account = await rightOf(TE.fromEither(requireBrokerAccount(await storedAccount(storesOn(first).operator))))
    const claimOn = ({ knex }: typeof first) => openJournal({ knex, log: { warn: () => undefined } }).journal.claim(account)
    expect(O.isSome(await rightOf(claimOn(first)))).toBe(true)
    expect(O.isSome(await rightOf(claimOn(first)))).toBe(false)
    await first.close()
    const second = await openDatabase({ folder })
    expect(O.isSome(await rightOf(claimOn(second)))).toBe(true)
    await second.close()
  })

  it('is refused to a second opener, who is told which process holds it', async () => {
    const lock = await lockFolder(folder)
    await expect(openDatabase({ folder })).rejects.toThrow(
      new RegExp(
        `^the embedded database in ${folder} is in use by process ${process.pid} on .+ since 2.+Z; one process may open it at a time$`,
      ),
    )
    await lock.release()
  })

  it('is refused to the second of two that open it at the same moment', async () => {
    const attempts = await Promise.allSettled([lockFolder(folder), lockFolder(folder), lockFolder(folder)])
    const held = attempts.filter((attempt) => attempt.status === 'fulfilled')
    expect(held).toHaveLength(1)
    await held[0]?.value.release()
    const again = await lockFolder(folder)
    await again.release()
  })

  it('is free again when the database in it could not be opened', async () => {
    await writeFile(join(folder, 'postgres'), 'not a folder')
    await expect(openDatabase({ folder })).rejects.toThrow('the embedded database cannot be opened')
    const lock = await lockFolder(folder)
    await lock.release()
  })

  it('keeps what was acknowledged when its process is killed, and opens at once for the next', async () => {
    const writer = spawn(
      process.execPath,
      [
        '--experimental-strip-types',
        '--no-warnings',
        '--conditions=@tradeport/source',
        join(import.meta.dirname, 'write-until-killed.ts'),
        folder,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const acknowledged: string[] = []
    const lines = createInterface(writer.stdout)
    lines.on('line', (line) => acknowledged.push(line))
    await once(lines, 'line')
    await expect(lockFolder(folder)).rejects.toThrow(`in use by process ${String(writer.pid)}`)
    await expect.poll(() => acknowledged.length).toBeGreaterThanOrEqual(25)
    writer.kill('SIGKILL')
    await once(lines, 'close')
    const database = await openDatabase({ folder })
    const stored = await database.knex('tenants').pluck('id')
    expect(acknowledged.length).toBeGreaterThanOrEqual(25)
    expect(stored).toStrictEqual(expect.arrayContaining(acknowledged))
    await database.close()
  })
})
