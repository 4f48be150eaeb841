// Risk thresholds with what their checks left, in PostgreSQL.
import type { ThresholdBreach } from '@tradeport/domain/accounts'
import { thresholdBreached } from '@tradeport/domain/events'
import type { RiskThresholds } from '@tradeport/domain/ports'
import { databasePort } from '../connection/failures.ts'
import { readAll, sql, transact } from '../connection/sql.ts'
import { isOfAccount } from '../journal/journal-row.ts'
import { checkedThresholds as thresholds, operatorHalts } from '../operator/records.ts'
import type { OwnedEvent, RecordingDependencies } from './events.ts'

export const createRiskThresholds = ({ knex, recorder }: RecordingDependencies): RiskThresholds =>
  databasePort<RiskThresholds>('riskThresholds', {
    ofAccount: (account) =>
      readAll(
        knex,
        sql`select ${thresholds.columns} from risk_thresholds where ${isOfAccount(account)} order by type, severity`,
        thresholds,
      ),
    record: ({ owner, accountId }, checks, openPositions) =>
      transact(knex, async (trx) => {
        const events: OwnedEvent[] = []
        const breaches: ThresholdBreach[] = []
        for (const { before, after, breach } of checks) {
          const updated = await trx('risk_thresholds')
            .where({ tenant_id: owner.tenantId, ...thresholds.write(before) })
            .update(thresholds.write(after))
          if (updated === 0 || !breach) continue
          events.push({ owner, event: thresholdBreached(breach, openPositions) })
          breaches.push(breach)
          const { type, severity, halt, cancelOrders } = after
          if (!halt) continue
          const reason = `the risk threshold ${type} (${severity}) was breached`
          await trx('halts')
            .insert({
              tenant_id: owner.tenantId,
              ...operatorHalts.write({ accountId, since: breach.at, reason, cancelOrders }),
            })
            .onConflict(['tenant_id', 'account_id', 'halted_by'])
            .merge({ cancel_orders: trx.raw('halts.cancel_orders or excluded.cancel_orders') })
        }
        await recorder?.recordWithin(trx, events)
        return breaches
      }),
  })
