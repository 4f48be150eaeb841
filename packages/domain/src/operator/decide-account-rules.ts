// What an operator's document says about accounts beside who owns them: desks, traders' limits, challenges and balance snapshots.
import type { Issue } from '../errors.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { DeskLimits, OperatorDocument, Setting, TraderLimits } from './document.ts'
import type { EntryReader } from './entry-reader.ts'
import type { AccountSnapshot, AccountTraderLimits, Challenge, Changes, Desk, OperatorChanges, OperatorRecords } from './records.ts'
import { decideSection } from './world.ts'
import type { World } from './world.ts'

const noDeskLimits: DeskLimits = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null }
const noTraderLimits: TraderLimits = { ...noDeskLimits, maxLotsPerOrder: null, approvalAboveLots: null }

export const decideDesks = (
  entries: OperatorDocument['desks'],
  stored: OperatorRecords['desks'],
  world: World,
  faults: Issue[],
): Changes<Desk, string> =>
  decideSection({ name: 'desks', entries, keyOf: ({ id }) => id }, faults, (entry, read) => {
    const desk = stored.find(({ id }) => id === entry.id)
    const tenantId = read.fixed('tenantId', entry.tenantId, desk?.tenantId)
    if (tenantId === undefined) return undefined
    if (!world.tenants.has(tenantId)) return read.fault('tenantId', `there is no tenant ${tenantId}`)
    const accounts = [...new Set(read.optional<readonly AccountId[]>(entry.accounts, desk?.accounts, []))]
    // A desk's stored accounts were checked when they were named; those named now must be of its tenant.
    for (const [index, id] of (entry.accounts ?? []).entries())
      if (world.accounts.get(id)?.owner.tenantId !== tenantId) read.fault(`accounts[${index}]`, `tenant ${tenantId} has no account ${id}`)
    return { id: entry.id, tenantId, accounts, limits: mergeLimits(noDeskLimits, desk?.limits, entry.limits) }
  })

export const decideTraderLimits = (
  entries: OperatorDocument['traderLimits'],
  stored: OperatorRecords['traderLimits'],
  world: World,
  faults: Issue[],
): OperatorChanges['traderLimits'] =>
  decideSection({ name: 'traderLimits', entries, keyOf: ({ accountId }) => accountId }, faults, (entry, read) => {
    requireAccount(entry.accountId, read, world)
    const before = stored.find(({ accountId }) => accountId === entry.accountId)
    const limits: AccountTraderLimits = {
      accountId: entry.accountId,
      limits: mergeLimits(noTraderLimits, before?.limits, entry.limits),
    }
    return limits
  })

export const decideChallenges = (
  entries: OperatorDocument['challenges'],
  stored: OperatorRecords['challenges'],
  world: World,
  faults: Issue[],
): OperatorChanges['challenges'] =>
  decideSection(
    { name: 'challenges', entries, keyOf: ({ accountId, startedAt }) => ({ accountId, startedAt }) },
    faults,
    (entry, read): Challenge | undefined => {
      const { accountId, startedAt } = entry
      requireAccount(accountId, read, world)
      const before = stored.find((challenge) => challenge.accountId === accountId && challenge.startedAt === startedAt)
      const status = read.required('status', entry.status, before?.status)
      return status === undefined ? undefined : { accountId, startedAt, status }
    },
  )

export const decideSnapshots = (
  entries: OperatorDocument['balanceSnapshots'],
  stored: OperatorRecords['balanceSnapshots'],
  world: World,
  faults: Issue[],
): OperatorChanges['balanceSnapshots'] =>
  decideSection(
    { name: 'balanceSnapshots', entries, keyOf: ({ accountId, timestamp }) => ({ accountId, timestamp }) },
    faults,
    (entry, read): AccountSnapshot | undefined => {
      const { accountId, timestamp } = entry
      requireAccount(accountId, read, world)
      const before = stored.find((snapshot) => snapshot.accountId === accountId && snapshot.timestamp === timestamp)
      const balance = read.required('balance', entry.balance, before?.balance)
      const equity = read.required('equity', entry.equity, before?.equity)
      const margin = read.required('margin', entry.margin, before?.margin)
      if (balance === undefined || equity === undefined || margin === undefined) return undefined
      return {
        accountId,
        timestamp,
        balance,
        equity,
        margin,
        freeMargin: read.optional<number | null>(entry.freeMargin, before?.freeMargin, null),
      }
    },
  )

const requireAccount = (id: AccountId, read: EntryReader, world: World): void => {
  if (!world.accounts.has(id)) read.fault('accountId', `there is no account ${id}`)
}

// Limits are brought to what the document says one by one; a limit that is null, or all of them, does not apply.
const mergeLimits = <Limits extends object>(
  none: Limits,
  stored: Limits | undefined,
  said: Setting<{ readonly [Limit in keyof Limits]?: Setting<Limits[Limit]> }>,
): Limits => {
  if (said === null) return none
  const named = Object.entries(said ?? {}).filter(([, value]) => value !== undefined)
  return { ...none, ...stored, ...Object.fromEntries(named) }
}
