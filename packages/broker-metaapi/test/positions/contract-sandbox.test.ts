// The contract of changes over the simulated provider, through real sockets.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { AccountOptions, Fault } from '@tradeport/sandbox-broker'
import { describePositionDeskContract } from '@tradeport/domain/testing'
import type { ChangeTrouble } from '@tradeport/domain/testing'
import { account } from '../support.ts'
import { deskWith } from './desk-support.ts'

const token = 'contract-token'
/** Longer than any case takes: it is over when the venue says so, by moving the sandbox's clock. */
const heldMs = 3_600_000

const faults: Readonly<Record<Exclude<ChangeTrouble, 'unavailable'>, Fault>> = {
  answer_lost: { kind: 'cut', when: 'after' },
  request_lost: { kind: 'timeout', when: 'before' },
  refused: { kind: 'return-code', numericCode: 10_018 },
  rate_limited: { kind: 'rate-limit', retryAfterSeconds: 2 },
  half_done: { kind: 'partial-fill' },
  held: { kind: 'placed', ms: heldMs },
  copy_lags: { kind: 'positions-lag', ms: heldMs },
}

const kinds: readonly Omit<AccountOptions, 'id'>[] = [
  {},
  { marginMode: 'netting' },
  { platform: 'mt4' },
  { platform: 'mt4', mt4PartialTicket: 'same', mt4DealIds: 'distinct' },
]

for (const options of kinds) {
  describePositionDeskContract(`the adapter over the sandbox with ${JSON.stringify(options)}`, async (positions) => {
    let ahead = 0
    let tokens: readonly O.Option<string>[] = []
    const now = (): number => Date.now() + ahead
    const id = account.providerAccountId
    const sandbox = await startSandbox({ tokens: [token], now, accounts: [{ id, region: 'london', positions, ...options }] })
    const control = sandbox.account(id)
    return {
      desk: deskWith({
        clientUrl: `${sandbox.url}/{region}`,
        providerToken: () => {
          const [next = O.some(token), ...rest] = tokens
          tokens = rest
          return TE.right(next)
        },
        clock: { now },
        stopwatch: { elapsedMs: now },
        deadlines: { readMs: 2_000 },
      }),
      account,
      restKeepsTicket: options.platform !== 'mt4' || options.mt4PartialTicket === 'same',
      held: () =>
        control.positions().map(({ id: ticket, symbol, type, volume, stopLoss, takeProfit }) => ({
          ticket,
          symbol,
          side: type === 'POSITION_TYPE_BUY' ? 'buy' : 'sell',
          volume,
          ...(stopLoss !== undefined && { stopLoss }),
          ...(takeProfit !== undefined && { takeProfit }),
        })),
      booked: (of) =>
        control
          .deals()
          .flatMap(({ orderId, entryType, volume }) => (orderId === of && entryType === 'DEAL_ENTRY_OUT' ? [Number(volume)] : [])),
      sends: () => sandbox.requests.count({ account: id, route: 'trade' }),
      troubleNext: async (trouble) => {
        // Without a token nothing is sent.
        if (trouble === 'unavailable') tokens = [O.none]
        else sandbox.faults.add(id, 'trade', { ...faults[trouble], times: 1 })
      },
      release: async () => void (ahead += heldMs),
      passTime: async (ms) => void (ahead += ms),
      closeElsewhere: async (positionId) => void control.trade({ actionType: 'POSITION_CLOSE_ID', positionId }),
      makeUnreadable: async () => sandbox.faults.set(id, 'positions', { kind: 'timeout' }),
      forgetAccount: async () => sandbox.faults.set(id, 'any', { kind: 'not-found' }),
      close: sandbox.close,
    }
  })
}
