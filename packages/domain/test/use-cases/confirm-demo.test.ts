import { describe, expect, it } from 'vitest'
import type { TradeMode } from '../../src/accounts/account.ts'
import { requireBrokerAccount } from '../../src/accounts/account.ts'
import { brokerRateLimited, brokerUnavailable } from '../../src/errors.ts'
import type { AccountStore } from '../../src/ports/account-store.ts'
import type { BrokerOrder, Trading } from '../../src/ports/trading.ts'
import { confirmingTrading } from '../../src/use-cases/steps/confirm-demo.ts'
import { createTestDesk, rightOf } from './desk.ts'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'

const order: BrokerOrder = { clientId: 'TP_a_b', symbol: 'EURUSD', side: 'buy', volume: 0.1 }

const openDesk = (fields: Parameters<ReturnType<typeof createTestDesk>['link']>[0], brokerSays: TradeMode) => {
  const desk = createTestDesk()
  const account = desk.link(fields)
  const figures = { balance: 1, equity: 1, margin: 0, freeMargin: 1, marginLevel: null, leverage: 100 }
  desk.broker.put(account.id, { information: { tradeMode: brokerSays, broker: null, currency: null, figures } })
  const sent: BrokerOrder[] = []
  const trading: Trading = {
    placeOrder: (_, one) => {
      sent.push(one)
      return T.of({ kind: 'filled', fill: {} })
    },
    findOrder: () => T.of({ kind: 'nothing' }),
  }
  const place = async (accounts: Pick<AccountStore, 'find'> = desk.accounts) => {
    const brokerAccount = await rightOf(TE.fromEither(requireBrokerAccount(account)))
    return confirmingTrading({ ...desk, accounts, trading }).placeOrder(brokerAccount, order)()
  }
  return { desk, account, sent, place }
}

describe('an order to an account that was never read (1 rule 2)', () => {
  it('is sent when the broker says demo', async () => {
    const { sent, place } = openDesk({ linkedAsDemo: true }, 'demo')
    expect(await place()).toEqual({ kind: 'filled', fill: {} })
    expect(sent).toEqual([order])
  })

  it.each(['real', 'contest', 'unconfirmed'] as const)('is refused and not sent when the broker says %s', async (brokerSays) => {
    const { sent, place } = openDesk({ linkedAsDemo: true }, brokerSays)
    expect(await place()).toMatchObject({ kind: 'refused', reason: { code: 'LIVE_ACCOUNT_RESTRICTED' } })
    expect(sent).toEqual([])
  })

  it('is not sent while the broker cannot be read, and may be tried again', async () => {
    const { desk, account, sent, place } = openDesk({ linkedAsDemo: true }, 'demo')
    desk.broker.fail(account.id, brokerUnavailable(account.id, 'down'))
    expect(await place()).toEqual({ kind: 'not_sent', retryAfterMs: null })
    expect(sent).toEqual([])
  })
})

describe('an order to an account that cannot be confirmed', () => {
  it('waits as long as the broker asks to', async () => {
    const { desk, account, sent, place } = openDesk({ linkedAsDemo: true }, 'demo')
    desk.broker.fail(account.id, brokerRateLimited(account.id, 7_000, 0))
    expect(await place()).toEqual({ kind: 'not_sent', retryAfterMs: 7_000 })
    expect(sent).toEqual([])
  })

  it('is refused where it is not linked any more', async () => {
    const { sent, place } = openDesk({ linkedAsDemo: true }, 'demo')
    expect(await place({ find: () => TE.right(O.none) })).toMatchObject({ kind: 'refused', reason: { code: 'ACCOUNT_NOT_FOUND' } })
    expect(sent).toEqual([])
  })
})

describe('an order to an account that was read', () => {
  it('is sent without another read', async () => {
    const { desk, sent, place } = openDesk({ tradeMode: 'demo' }, 'demo')
    await place()
    expect(sent).toEqual([order])
    expect(desk.broker.calls('accountInformation')).toBe(0)
  })

  it('is refused when the account turned out to be live', async () => {
    const { sent, place } = openDesk({ tradeMode: 'real' }, 'demo')
    expect(await place()).toMatchObject({ kind: 'refused' })
    expect(sent).toEqual([])
  })
})
