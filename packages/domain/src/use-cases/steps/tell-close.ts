// Records what a close was, once it is known, and the trade that it made of a position (section 6). It never fails: a close that was made stays made, and
// its reply does not depend on who else is told.
import * as E from 'fp-ts/lib/Either.js'
import type * as T from 'fp-ts/lib/Task.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import { positionClosed, tradeClosed } from '../../events/position-events.ts'
import type { MadeClose } from '../../events/position-events.ts'
import type { ServiceEvent } from '../../events/service-event.ts'
import type { Clock, Pauser } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Histories } from '../../ports/histories.ts'
import { secondMs } from '../../primitives/instant.ts'

interface Ports extends Pauser {
  readonly eventLog: EventLog
  readonly histories: Histories
  readonly clock: Clock
}

/** How often it is written anew while the database is away. */
const writeAttempts = 5
const writePauseMs = secondMs

export const tellClose =
  (ports: Ports) =>
  (account: BrokerAccount, close: MadeClose): T.Task<void> =>
  async () => {
    if (!ports.eventLog.isRecording) return
    await write(ports, account, positionClosed(close, ports.clock.now()))
    // A trade that the history does not show yet cannot be told: whatever its fields were to be would be made up.
    if (close.remainingVolume > 0 || close.closedAt === null) return
    const history = await ports.histories.read(account)()
    const closed = E.isRight(history) ? history.right.trades.find(({ trade }) => trade.positionId === close.id.ticket) : undefined
    if (closed !== undefined) await write(ports, account, tradeClosed(closed, ports.clock.now()))
  }

const write = async (ports: Ports, { owner }: BrokerAccount, event: ServiceEvent): Promise<void> => {
  for (let attempt = 1; attempt <= writeAttempts; attempt++) {
    if (E.isRight(await ports.eventLog.record(owner, [event])())) return
    if (attempt < writeAttempts) await ports.pause(writePauseMs)()
  }
}
