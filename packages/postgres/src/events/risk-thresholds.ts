// Risk thresholds with what their checks left, in PostgreSQL.
import type { RiskThresholds } from '@tradeport/domain/ports'
import type { Database } from '../connection/database.ts'
import { attempts } from '../connection/failures.ts'
import { readAll, sql } from '../connection/sql.ts'
import { ofAccount } from '../journal/journal-row.ts'
import { checkedThresholds as thresholds } from '../operator/records.ts'
import type { EventRecorder, OwnedEvent } from './events.ts'

interface Parts extends Pick<Database, 'knex'> {
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
}

export const createRiskThresholds = ({ knex, recorder }: Parts): RiskThresholds =>
  attempts<RiskThresholds>('riskThresholds', {
    ofAccount: (account) =>
      readAll(
        knex,
        sql`select ${thresholds.columns} from risk_thresholds where ${ofAccount(account)} order by type, severity`,
        thresholds,
      ),
    record: async ({ owner }, checks) => {
      const { length } = await knex.transaction(async (trx) => {
        const events: OwnedEvent[] = []
        for (const { before, after, event } of checks) {
          const updated = await trx('risk_thresholds')
            .where({ tenant_id: owner.tenantId, ...thresholds.write(before) })
            .update(thresholds.write(after))
          if (updated > 0 && event !== undefined) events.push({ owner, event })
        }
        await recorder?.recordWithin(trx, events)
        return events
      })
      if (length > 0) recorder?.handOver()
    },
  })
