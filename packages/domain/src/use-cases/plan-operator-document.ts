// POST /operator/v1/plan: what applying the document would change now. It is decided as `apply` decides, over the same records in the same transaction,
// and nothing is written.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable, ValidationError } from '../errors.ts'
import { decideApply, keysOf } from '../operator/apply.ts'
import type { OperatorDocument } from '../operator/document.ts'
import { planOf } from '../operator/plan.ts'
import type { PlannedChange } from '../operator/plan.ts'
import { noChanges } from '../operator/records.ts'
import type { OperatorRecords } from '../operator/records.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperatorStore } from '../ports/operator-store.ts'
import type { Secrets } from '../ports/secrets.ts'

interface Ports {
  readonly operator: OperatorStore
  readonly secrets: Secrets
  readonly clock: Clock
}

export const planOperatorDocument =
  (ports: Ports) =>
  (document: OperatorDocument): TE.TaskEither<ServiceUnavailable | ValidationError, readonly PlannedChange[]> =>
    pipe(
      ports.operator.apply(keysOf(document, ports.secrets), decidePlan(ports, document)),
      TE.map(({ plan }) => plan),
    )

const decidePlan = ({ secrets, clock }: Ports, document: OperatorDocument) => {
  const decide = decideApply(document, secrets, clock.now())
  return (records: OperatorRecords) =>
    pipe(
      decide(records),
      E.map(({ changes }) => ({ changes: noChanges, plan: planOf(records, changes) })),
    )
}
