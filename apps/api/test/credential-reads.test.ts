// How often credentials are read from the database: never for a made-up key, and in few reads for
// many unknown ones.
import { unauthorized } from '@tradeport/domain/errors'
import { identifyCaller } from '@tradeport/domain/use-cases'
import { cachedCredentials, createAddressLimits } from '@tradeport/memory'
import { createCredentialStore, openDatabase } from '@tradeport/postgres'
import type { Database } from '@tradeport/postgres'
import * as E from 'fp-ts/lib/Either.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSecrets } from '../src/secrets.ts'
import { createTestClock } from './support/service.ts'

describe('many unknown credentials at once, each from an address of its own', () => {
  let database: Database
  beforeAll(async () => {
    database = await openDatabase({ inMemory: true })
  })
  afterAll(() => database.close())

  it.each<
    readonly [
      reads: number,
      what: string,
      count: number,
      present: (index: number) => { apiKey?: string; accessToken?: string },
    ]
  >([
    [
      0,
      'keys without the right checksum',
      1_000,
      (index) => ({ apiKey: `tp_live_${String(index).padStart(40, 'x')}` }),
    ],
    [
      3,
      'keys that an operator could have chosen',
      2_500,
      (index) => ({ apiKey: `tp_live_unknown-key-of-nobody-${index}` }),
    ],
    [1, 'stored tokens', 1_000, (index) => ({ accessToken: `token-${index}` })],
  ])('cost %d reads where they are %s', async (expected, _, count, present) => {
    const clock = createTestClock('2026-03-06T12:00:00.000Z')
    const credentials = cachedCredentials(createCredentialStore(database), {
      clock,
      notices: { confirmedAt: clock.now },
    })
    const identify = identifyCaller({
      credentials,
      addressLimits: createAddressLimits(),
      secrets: createSecrets(),
      clock,
    })
    let reads = 0
    const onQuery = (): void => void (reads += 1)
    database.knex.on('query', onQuery)
    const attempts = Array.from({ length: count }, (__, index) =>
      identify({
        apiKey: undefined,
        accessToken: undefined,
        address: `10.0.${index >> 8}.${index & 255}`,
        ...present(index),
      })(),
    )
    for (const outcome of await Promise.all(attempts)) expect(outcome).toEqual(E.left(unauthorized))
    database.knex.removeListener('query', onQuery)
    expect(reads).toBe(expected)
  })
})
