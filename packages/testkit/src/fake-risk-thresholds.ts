// Risk thresholds in memory.
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceEvent } from '@tradeport/domain/events'
import type { RiskThresholds } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { thresholdKey, thresholdsOf, type FakeRecords } from './fake-records.ts'

/** @param happened records the events of breaches */
export const createFakeRiskThresholds = (
  records: FakeRecords,
  happened: (owner: Owner, events: readonly ServiceEvent[]) => void = () => undefined,
): RiskThresholds => ({
  ofAccount: ({ accountId }) => TE.fromIO(() => thresholdsOf(records.tables, accountId)),
  record: ({ owner }, checks) =>
    TE.fromIO(() => {
      for (const { before, after, event } of checks) {
        const { riskThresholds } = records.tables
        const key = thresholdKey(before)
        if (JSON.stringify(riskThresholds.get(key)) !== JSON.stringify(before)) continue
        riskThresholds.set(key, after)
        if (event === undefined) continue
        happened(owner, [event])
        const { accountId, type, severity, halt } = after
        if (halt && !records.tables.halts.has(accountId))
          records.tables.halts.set(accountId, {
            accountId,
            since: event.at,
            reason: `the risk threshold ${type} (${severity}) was breached`,
          })
      }
    }),
})
