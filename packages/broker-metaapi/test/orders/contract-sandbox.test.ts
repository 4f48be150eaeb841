// The trading contract over the simulated provider, through real sockets.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { AccountOptions, Fault } from '@tradeport/sandbox-broker'
import { describeTradingContract } from '@tradeport/domain/testing'
import type { TradeTrouble } from '@tradeport/domain/testing'
import { sumExactly } from '@tradeport/domain'
import { account } from '../support.ts'
import { tradingWith } from './order-support.ts'

const token = 'contract-token'
/** Longer than any case takes: it is over when the venue says so, by moving the sandbox's clock. */
const heldMs = 3_600_000

const faults: Readonly<Record<TradeTrouble, Fault>> = {
  answer_lost: { kind: 'cut', when: 'after' },
  request_lost: { kind: 'timeout', when: 'before' },
  refused: { kind: 'return-code', numericCode: 10_018 },
  rate_limited: { kind: 'rate-limit', retryAfterSeconds: 2 },
  half_filled: { kind: 'partial-fill' },
  held: { kind: 'placed', ms: heldMs },
}

const kinds: readonly Omit<AccountOptions, 'id'>[] = [{}, { marginMode: 'netting' }, { platform: 'mt4' }]

for (const options of kinds) {
  describeTradingContract(`the adapter over the sandbox with ${JSON.stringify(options)}`, async () => {
    let ahead = 0
    const now = (): number => Date.now() + ahead
    const id = account.providerAccountId
    const sandbox = await startSandbox({ tokens: [token], now, accounts: [{ id, region: 'london', ...options }] })
    const control = sandbox.account(id)
    return {
      trading: tradingWith({
        clientUrl: `${sandbox.url}/{region}`,
        providerToken: () => TE.right(O.some(token)),
        clock: { now },
        stopwatch: { elapsedMs: now },
        deadlines: { readMs: 5_000, fillMs: 2_000 },
      }),
      account,
      now,
      troubleNext: async (trouble) => void sandbox.faults.add(id, 'trade', { ...faults[trouble], times: 1 }),
      release: async () => void (ahead += heldMs),
      passTime: async (ms) => void (ahead += ms),
      closePosition: async (clientId, volume) => {
        const positionId = control.positions().find((position) => position.clientId === clientId)?.id
        const part = volume === undefined ? { actionType: 'POSITION_CLOSE_ID' } : { actionType: 'POSITION_PARTIAL', volume }
        control.trade({ ...part, positionId })
      },
      makeReadable: async (isReadable) => {
        for (const route of ['positions', 'orders', 'history-orders', 'deals'] as const) {
          if (isReadable) sandbox.faults.clear({ account: id, route })
          else sandbox.faults.set(id, route, { kind: 'timeout' })
        }
      },
      executedLots: (clientId) =>
        sumExactly(
          control
            .deals()
            .filter((deal) => deal['clientId'] === clientId)
            .map(({ volume }) => Number(volume)),
        ),
      close: sandbox.close,
    }
  })
}
