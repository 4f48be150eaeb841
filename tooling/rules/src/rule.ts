// What a rule is: a name, and a pure check over the whole repository.
import type { Repository } from './repository.ts'

export interface Violation {
  /** Path from the repository's root, with the line where there is one: `packages/http/src/app.ts:12`. */
  readonly where: string
  /** What is wrong and what to write instead. */
  readonly message: string
}

export interface Rule {
  /** Completes "the repository …" in a test's name. */
  readonly name: string
  readonly check: (repository: Repository) => readonly Violation[]
}
