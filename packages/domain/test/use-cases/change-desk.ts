// A desk that changes positions: stored accounts of one user, a broker with open positions, locks, and a time that passes by itself.
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../../src/accounts/account.ts'
import type { BrokerPosition } from '../../src/positions/position.ts'
import { formatPositionId } from '../../src/primitives/ids.ts'
import { withoutKey } from '../../src/ports/idempotency.ts'
import type { Owner } from '../../src/primitives/ids.ts'
import { createFakeAccountStore } from '../../src/testing/fake-account-store.ts'
import { createFakeBroker } from '../../src/testing/fake-broker.ts'
import { createFakePositionDesk } from '../../src/testing/fake-position-desk.ts'
import { createFakePositionLocks } from '../../src/testing/fake-position-locks.ts'
import { createFakeRecords } from '../../src/testing/fake-records.ts'
import { newAccount } from '../../src/testing/stored-records.ts'
import { closePosition } from '../../src/use-cases/close-position.ts'
import type { CloseRefusal, CloseResult } from '../../src/use-cases/close-position.ts'
import { moveStopLoss, moveTakeProfit } from '../../src/use-cases/move-levels.ts'
import type { LevelRefusal } from '../../src/use-cases/move-levels.ts'
import { createLiveAccounts } from '../../src/use-cases/steps/read-live-account.ts'
import type { PositionResult } from '../../src/use-cases/steps/show-position.ts'
import { openPosition } from '../../src/testing/open-position.ts'
import { owner } from './desk.ts'
import { createTestTime } from './test-time.ts'

export const noon = Date.UTC(2026, 10, 21, 12)

/** @param fields of the account, which its broker called a demo account when it was last read, unless they say otherwise */
export const createChangeDesk = (fields: Partial<Account> = {}, positions: readonly BrokerPosition[] = [openPosition()]) => {
  const records = createFakeRecords()
  const time = createTestTime(noon)
  const { clock } = time
  const broker = createFakeBroker(clock)
  const accounts = createFakeAccountStore(records)
  const positionDesk = createFakePositionDesk(clock)
  const ports = {
    ...time,
    accounts,
    broker,
    liveAccounts: createLiveAccounts({ accounts, broker, clock }),
    positionDesk,
    positionLocks: createFakePositionLocks(clock),
    synchroniseJournal: positionDesk.synchroniseJournal,
    journal: positionDesk.journal,
  }
  const account = newAccount(owner, { tradeMode: 'demo', ...fields })
  records.tables.accounts.set(account.id, account)
  broker.put(account.id)
  positionDesk.put(account.id, positions)
  const id = formatPositionId(account.id, '42')
  return {
    ...ports,
    account,
    id,
    /** The position as it truly is now; undefined when it is closed. */
    held: (ticket = '42') => positionDesk.positions(account.id).find((one) => one.ticket === ticket),
  }
}

export type ChangeDesk = ReturnType<typeof createChangeDesk>

/** The same desk where something else happens right after the broker has been sent a change, and before it is heard of again. */
export const meanwhile = (desk: ChangeDesk, happen: () => void): ChangeDesk => {
  const { setLevels, closePosition } = desk.positionDesk
  const afterwards = <A>(sending: T.Task<A>): T.Task<A> =>
    pipe(
      sending,
      T.tapIO(() => happen),
    )
  return {
    ...desk,
    positionDesk: {
      ...desk.positionDesk,
      setLevels: (...change) => afterwards(setLevels(...change)),
      closePosition: (...change) => afterwards(closePosition(...change)),
    },
  }
}

type Change = (desk: ChangeDesk, id?: string, by?: Owner) => TE.TaskEither<LevelRefusal | CloseRefusal, PositionResult | CloseResult>

/** Each change, as it would be made of the position that the desk holds by default. */
export const someChanges: readonly { readonly what: string; readonly make: Change }[] = [
  { what: 'a stop loss', make: (desk: ChangeDesk, id = desk.id, by = owner) => moveStopLoss(desk)({ owner: by }, id, 1.05) },
  { what: 'a take profit', make: (desk: ChangeDesk, id = desk.id, by = owner) => moveTakeProfit(desk)({ owner: by }, id, 1.5) },
  { what: 'a close', make: (desk: ChangeDesk, id = desk.id, by = owner) => closePosition(desk)({ owner: by }, id, undefined, withoutKey) },
  {
    what: 'a close of a part',
    make: (desk: ChangeDesk, id = desk.id, by = owner) => closePosition(desk)({ owner: by }, id, 0.1, withoutKey),
  },
]
