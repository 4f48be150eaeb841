// What every GuardStore reads, numbered (section 7; decision 19).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Account } from '../accounts/account.ts'
import type { Desk } from '../operator/records.ts'
import type { PendingSize } from '../orders/guards.ts'
import type { PlacementStep } from '../orders/placement.ts'
import type { Owner } from '../primitives/ids.ts'
import { newOrderOn, placementOf, toRecord } from './stored-orders.ts'
import type { OpenOrderPorts, OrderPorts } from './stored-orders.ts'
import { newAccount, newAccountId, newUser, puts, rightOf, storedAccount, storedOwner, write } from './stored-records.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const limits = { maxLotsPerOrder: 0.3, maxOpenLots: 20.5, maxOpenPositions: 10, allowedSymbols: ['EURUSD'], approvalAboveLots: 2 }
const noLimits = { maxLotsPerOrder: null, maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null, approvalAboveLots: null }
const deskLimits = { maxOpenLots: 50, maxOpenPositions: null, allowedSymbols: null }
const none = { trader: null, desks: [] }
const filled: PlacementStep = { placement: { step: 'settled' }, outcome: { kind: 'filled', fill: {} }, continueInMs: null }

const newDesk = ({ owner }: Account, ...accounts: readonly Account[]): Desk => ({
  id: `desk-${newAccountId()}`,
  tenantId: owner.tenantId,
  accounts: accounts.map(({ id }) => id),
  limits: deskLimits,
})

const byVolume = (a: PendingSize, b: PendingSize): number => a.volume - b.volume

export const guardStoreContract = (title: string, open: OpenOrderPorts): void => {
  describe(`guard store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenOrderPorts>>
    let ports: OrderPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    const guards = async ({ owner, id }: Account) => {
      const { trader, desks } = await rightOf(ports.guards.guards(owner, id))
      return { trader, desks }
    }
    const challenges = ({ owner, id }: Account) => rightOf(ports.guards.challenges(owner, id))
    const place = async (account: Account, volume: number) => {
      const order = newOrderOn(account, noon, { volume })
      return rightOf(ports.orders.record(account.owner, toRecord(order)))
    }
    const colleagueOf = async ({ owner }: Account): Promise<Account> => {
      const user = newUser(owner.tenantId)
      const account = newAccount({ tenantId: owner.tenantId, userId: user.id })
      await write(ports.operator, { users: puts(user), accounts: puts(account) })
      return account
    }

    it('G1 reads nothing where nothing is set', async () => {
      const account = await storedAccount(ports.operator)
      expect(await guards(account)).toStrictEqual(none)
      expect(await challenges(account)).toStrictEqual([])
    })

    it('G2 reads the challenges of the account and of no other', async () => {
      const [account, other] = [await storedAccount(ports.operator), await storedAccount(ports.operator)]
      const failed = { status: 'failed', startedAt: noon } as const
      const active = { status: 'active', startedAt: noon + 1 } as const
      await write(ports.operator, {
        challenges: puts({ accountId: account.id, ...failed }, { accountId: account.id, ...active }, { accountId: other.id, ...failed }),
      })
      const found = await challenges(account)
      expect(found.toSorted((a, b) => a.startedAt - b.startedAt)).toStrictEqual([failed, active])
    })

    it('G3 reads a trader’s limits, also where none of them applies', async () => {
      const [strict, free] = [await storedAccount(ports.operator), await storedAccount(ports.operator)]
      await write(ports.operator, { traderLimits: puts({ accountId: strict.id, limits }, { accountId: free.id, limits: noLimits }) })
      expect(await guards(strict)).toStrictEqual({ ...none, trader: { limits, pending: [] } })
      expect(await guards(free)).toStrictEqual({ ...none, trader: { limits: noLimits, pending: [] } })
    })

    it('G4 reads the volumes of orders pending on an account with limits, exactly, and not of settled ones', async () => {
      const account = await storedAccount(ports.operator)
      await write(ports.operator, { traderLimits: puts({ accountId: account.id, limits }) })
      const [done, ...left] = [await place(account, 5), await place(account, 0.1), await place(account, 0.1 + 0.2)]
      await place(await colleagueOf(account), 7)
      await rightOf(ports.orders.advance(done.owner, placementOf(done), filled, noon))
      const { trader } = await guards(account)
      expect(trader?.pending.toSorted(byVolume)).toStrictEqual(left.map(({ id, request }) => ({ id, volume: request.volume })))
    })

    it('G5 reads the desks of the account by id, each with all its accounts and what is pending on them', async () => {
      const account = await storedAccount(ports.operator)
      const colleague = await colleagueOf(account)
      const [alone, shared, other] = [newDesk(account, account), newDesk(account, colleague, account), newDesk(account, colleague)]
      await write(ports.operator, { desks: puts(shared, other, alone) })
      const [own, theirs] = [await place(account, 1), await place(colleague, 2)].map(({ id, request }) => ({ id, volume: request.volume }))
      const { desks } = await guards(account)
      expect(desks.map((desk) => ({ ...desk, pending: desk.pending.toSorted(byVolume) }))).toStrictEqual([
        { limits: deskLimits, accounts: [account], pending: [own] },
        { limits: deskLimits, accounts: [colleague, account], pending: [own, theirs] },
      ])
    })

    it('G8 reads the orders pending on every link to the same broker account, each once', async () => {
      const account = await storedAccount(ports.operator)
      const link = { ...newAccount(account.owner), provider: account.provider }
      await write(ports.operator, {
        accounts: puts(link),
        traderLimits: puts({ accountId: account.id, limits }),
        desks: puts(newDesk(account, account, link)),
      })
      const placed = await Promise.all([place(account, 1), place(link, 2)])
      const pending = placed.map(({ id, request }) => ({ id, volume: request.volume })).toSorted(byVolume)
      const { trader, desks } = await guards(account)
      expect(trader?.pending.toSorted(byVolume)).toStrictEqual(pending)
      expect(desks.map((desk) => desk.pending.toSorted(byVolume))).toStrictEqual([pending])
    })

    it('G6 reads nothing of an account that is another’s or not there (5 rule 9)', async () => {
      const account = await storedAccount(ports.operator)
      await write(ports.operator, {
        traderLimits: puts({ accountId: account.id, limits }),
        challenges: puts({ accountId: account.id, status: 'failed', startedAt: noon }),
        desks: puts(newDesk(account, account)),
      })
      const stranger = await storedOwner(ports.operator)
      const strangers: readonly Owner[] = [
        stranger,
        { ...account.owner, userId: stranger.userId },
        { ...account.owner, tenantId: stranger.tenantId },
      ]
      for (const owner of strangers) {
        expect(await guards({ ...account, owner })).toStrictEqual(none)
        expect(await challenges({ ...account, owner })).toStrictEqual([])
      }
      expect(await guards({ ...account, id: newAccountId() })).toStrictEqual(none)
    })

    it('G7 gives each of those who ask together what is theirs (5 rule 9)', async () => {
      const account = await storedAccount(ports.operator)
      await write(ports.operator, { traderLimits: puts({ accountId: account.id, limits }) })
      const another = { ...account, owner: await storedOwner(ports.operator) }
      const own = { ...none, trader: { limits, pending: [] } }
      const asked = [another, account, another, account]
      expect(await Promise.all(asked.map(guards))).toStrictEqual([none, own, none, own])
    })
  })
}
