// Ports over plain functions, which fakes are written as.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'

/** The methods of a port as functions that return a value, or an Either where they may refuse. */
type PlainMethods<Port> = {
  readonly [Method in keyof Port]: Port[Method] extends (
    ...args: infer Args
  ) => TE.TaskEither<infer Refused, infer A>
    ? (...args: Args) => A | E.Either<Refused, A>
    : never
}

const isEither = (value: unknown): value is E.Either<unknown, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  '_tag' in value &&
  (value._tag === 'Left' || value._tag === 'Right')

/** Each method runs when its task does. */
export const portOf = <Port>(methods: PlainMethods<Port>): Port =>
  Object.fromEntries(
    Object.entries<(...args: readonly unknown[]) => unknown>(methods).map(([name, method]) => [
      name,
      (...args: readonly unknown[]) =>
        async () => {
          const answer = method(...args)
          return isEither(answer) ? answer : E.right(answer)
        },
    ]),
  ) as Port
