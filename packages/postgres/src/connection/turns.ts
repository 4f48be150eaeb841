// Reads that may take long wait for their user's turn, so that those of one user leave connections to
// everybody's orders and a part of the turns to other users.
import { refuse } from '@tradeport/domain/errors'
import type { Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { FairPool } from './fair-pool.ts'

type FirstArgument<Port> = Parameters<Extract<Port[keyof Port], (...of: never[]) => unknown>>[0]

const defaultPatienceMs = 15_000

/**
 * The port, each of whose calls takes a slot of the pool while it runs. One that gets none in time
 * fails with ServiceUnavailable.
 * @param ownerOf of the first argument of every call
 */
export const takingTurns = <Port extends object>(
  pool: FairPool,
  port: Port,
  ownerOf: (first: FirstArgument<Port>) => Owner,
  patienceMs = defaultPatienceMs,
): Port =>
  Object.fromEntries(
    Object.entries<
      (first: FirstArgument<Port>, ...rest: unknown[]) => TaskEither<unknown, unknown>
    >(port as never).map(([method, call]) => [
      method,
      (first: FirstArgument<Port>, ...rest: unknown[]) =>
        async () => {
          const { tenantId: tenant, userId: member } = ownerOf(first)
          const release = await pool.acquire({ tenant, member }, patienceMs)
          if (release === undefined)
            return E.left(
              refuse('ServiceUnavailable', { reason: `${method}: other reads took too long` }),
            )
          try {
            return await call(first, ...rest)()
          } finally {
            release()
          }
        },
    ]),
  ) as Port
