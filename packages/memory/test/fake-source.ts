// A clock that the test moves, and reads that settle when the test says so.
import type { Clock } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'

export interface MovableClock extends Clock {
  readonly advance: (ms: number) => void
}

export const createMovableClock = (): MovableClock => {
  let now = 1_000_000
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
  }
}

/** Lets everything that waits for a settled promise have its turn. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export interface Call<A> {
  readonly resolve: (value: A) => void
  readonly fail: (error: string) => void
  readonly reject: () => void
}

/** A read whose calls are kept, each waiting for the test. */
export const createPendingRead = <A>(): { readonly read: TE.TaskEither<string, A>; readonly calls: readonly Call<A>[] } => {
  const calls: Call<A>[] = []
  return {
    calls,
    read: () =>
      new Promise((resolve, reject) => {
        calls.push({
          resolve: (value) => resolve(E.right(value)),
          fail: (error) => resolve(E.left(error)),
          reject: () => reject(new Error('thrown')),
        })
      }),
  }
}
