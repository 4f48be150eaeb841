// A desk that changes positions: stored accounts of one user, a broker with open positions, locks,
// and a time that passes by itself.
import type { Account } from '../../src/accounts/account.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import { formatPositionId } from '../../src/primitives/ids.ts'
import { createFakePositionDesk } from '../../src/testing/fake-position-desk.ts'
import { createFakePositionLocks } from '../../src/testing/fake-position-locks.ts'
import { openPosition } from '../../src/testing/open-position.ts'
import { createTestDesk } from './desk.ts'
import { createTestTime } from './test-time.ts'

export const noon = Date.UTC(2026, 10, 21, 12)

/**
 * @param fields of the account, which its broker called a demo account when it was last read,
 * unless they say otherwise
 */
export const createChangeDesk = (
  fields: Partial<Account> = {},
  positions: readonly BrokerPosition[] = [openPosition()],
) => {
  const time = createTestTime(noon)
  const desk = createTestDesk(time.clock)
  const positionDesk = createFakePositionDesk(time.clock)
  const { synchroniseJournal, journal } = positionDesk
  const account = desk.link({ tradeMode: 'demo', ...fields })
  positionDesk.put(account.id, positions)
  return {
    ...time,
    ...desk,
    positionDesk,
    positionLocks: createFakePositionLocks(time.clock),
    synchroniseJournal,
    journal,
    account,
    id: formatPositionId(account.id, '42'),
    /** The position as it truly is now; undefined when it is closed. */
    held: (ticket = '42') =>
      positionDesk.positions(account.id).find((one) => one.ticket === ticket),
  }
}

export type ChangeDesk = ReturnType<typeof createChangeDesk>
