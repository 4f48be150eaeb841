// POST /operator/v1/apply: brings the records to what the document says, all or nothing, and tells the credentials it made or was given.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable, ValidationError } from '../errors.ts'
import { decideApply, keysOf } from '../operator/apply.ts'
import type { AppliedDocument } from '../operator/apply.ts'
import type { OperatorDocument } from '../operator/document.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperatorStore } from '../ports/operator-store.ts'
import type { Secrets } from '../ports/secrets.ts'

interface Ports {
  readonly operator: OperatorStore
  readonly secrets: Secrets
  readonly clock: Clock
}

export const applyOperatorDocument =
  (ports: Ports) =>
  (document: OperatorDocument): TE.TaskEither<ServiceUnavailable | ValidationError, AppliedDocument> =>
    ports.operator.apply(keysOf(document, ports.secrets), decideApply(document, ports.secrets, ports.clock.now()))
