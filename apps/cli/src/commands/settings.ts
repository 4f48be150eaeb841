// Linking accounts, and what the head trader sets for them: limits of a trader and of a desk, and challenges.
import { randomUUID } from 'node:crypto'
import { usageFailure } from '../failure.ts'
import { settingOf } from '../option-values.ts'
import type { None } from '../option-values.ts'
import type { CommonOptions } from '../session.ts'
import type { World } from '../world.ts'
import { tellChange } from './change.ts'

export interface LinkOptions extends CommonOptions {
  readonly user: string
  readonly id?: string | undefined
  readonly name: string
  readonly platform: string
  readonly number: string
  readonly server: string
  readonly currency: string
  readonly purpose: string
  readonly demo?: boolean | undefined
  readonly broker?: string | undefined
  readonly providerAccount?: string | undefined
  readonly region?: string | undefined
}

const again = 'Call again: what is so already is not changed twice.'

export const linkAccount = (world: World, options: LinkOptions): Promise<void> => {
  const id = options.id ?? randomUUID()
  const { user, name, platform, number, server, currency, purpose, demo, broker, providerAccount, region } = options
  return tellChange(
    world,
    {
      section: 'accounts',
      entry: {
        id,
        userId: user,
        name,
        brokerType: platform,
        accountNumber: number,
        server,
        currency,
        purpose,
        isDemo: demo,
        broker,
        providerAccountId: providerAccount,
        region,
      },
      record: 'new',
      noun: `an account ${id}`,
      listedBy: 'accounts list',
      optionOf: {
        id: '--id',
        userId: '--user',
        name: '--name',
        brokerType: '--platform',
        accountNumber: '--number',
        server: '--server',
        currency: '--currency',
        purpose: '--purpose',
        broker: '--broker',
        providerAccountId: '--provider-account',
        region: '--region',
      },
      whenLost: 'Look whether it was linked: pnpm operator accounts list.',
    },
    options,
  )
}

export const unlinkAccount = (world: World, id: string, options: CommonOptions): Promise<void> =>
  tellChange(
    world,
    {
      section: 'accounts',
      entry: { id, removed: true },
      record: 'there',
      noun: `the account ${id}`,
      listedBy: 'accounts list',
      whenLost: again,
    },
    options,
  )

type Setting<A> = A | None | undefined

export interface DeskLimitOptions extends CommonOptions {
  readonly maxOpenLots?: Setting<number>
  readonly maxOpenPositions?: Setting<number>
  readonly symbols?: Setting<readonly string[]>
}

export interface TraderLimitOptions extends DeskLimitOptions {
  readonly maxLotsPerOrder?: Setting<number>
  readonly approvalAbove?: Setting<number>
}

const limitOptions = {
  accountId: 'the account',
  'limits.maxLotsPerOrder': '--max-lots-per-order',
  'limits.maxOpenLots': '--max-open-lots',
  'limits.maxOpenPositions': '--max-open-positions',
  'limits.allowedSymbols': '--symbols',
  'limits.approvalAboveLots': '--approval-above',
}

const deskLimitsOf = ({ maxOpenLots, maxOpenPositions, symbols }: DeskLimitOptions) => ({
  maxOpenLots: settingOf(maxOpenLots),
  maxOpenPositions: settingOf(maxOpenPositions),
  allowedSymbols: settingOf(symbols),
})

export const setTraderLimits = (world: World, accountId: string, options: TraderLimitOptions): Promise<void> => {
  const limits = {
    maxLotsPerOrder: settingOf(options.maxLotsPerOrder),
    ...deskLimitsOf(options),
    approvalAboveLots: settingOf(options.approvalAbove),
  }
  requireSomething(limits)
  return tellChange(
    world,
    {
      section: 'traderLimits',
      entry: { accountId, limits },
      record: 'any',
      noun: `what limits the account ${accountId}`,
      listedBy: 'accounts list',
      optionOf: limitOptions,
      whenLost: again,
    },
    options,
  )
}

export const clearTraderLimits = (world: World, accountId: string, options: CommonOptions): Promise<void> =>
  tellChange(
    world,
    {
      section: 'traderLimits',
      entry: { accountId, removed: true },
      record: 'any',
      noun: `the account ${accountId} without limits`,
      listedBy: 'accounts list',
      whenLost: again,
    },
    options,
  )

export interface DeskOptions extends DeskLimitOptions {
  readonly tenant?: string | undefined
  readonly account?: readonly string[] | undefined
}

export const setDesk = (world: World, id: string, options: DeskOptions): Promise<void> => {
  const { tenant: tenantId, account: accounts } = options
  const limits = deskLimitsOf(options)
  requireSomething({ tenantId, accounts, ...limits })
  return tellChange(
    world,
    {
      section: 'desks',
      entry: { id, tenantId, accounts, limits },
      record: 'any',
      noun: `the desk ${id}`,
      listedBy: 'desks list',
      optionOf: { tenantId: '--tenant', accounts: '--account', ...limitOptions },
      whenLost: again,
    },
    options,
  )
}

export const removeDesk = (world: World, id: string, options: CommonOptions): Promise<void> =>
  tellChange(
    world,
    { section: 'desks', entry: { id, removed: true }, record: 'there', noun: `the desk ${id}`, listedBy: 'desks list', whenLost: again },
    options,
  )

export interface ChallengeOptions extends CommonOptions {
  readonly started: string
  readonly status?: string | undefined
}

export const setChallenge = (world: World, accountId: string, options: ChallengeOptions): Promise<void> => {
  const { started: startedAt, status } = options
  return tellChange(
    world,
    {
      section: 'challenges',
      entry: { accountId, startedAt, status },
      record: 'any',
      noun: `the challenge of ${accountId} that started ${startedAt}`,
      listedBy: 'accounts list --json',
      optionOf: { accountId: 'the account', startedAt: '--started', status: '--status' },
      whenLost: again,
    },
    options,
  )
}

export const removeChallenge = (world: World, accountId: string, options: ChallengeOptions): Promise<void> => {
  const { started: startedAt } = options
  return tellChange(
    world,
    {
      section: 'challenges',
      entry: { accountId, startedAt, removed: true },
      record: 'there',
      noun: `the challenge of ${accountId} that started ${startedAt}`,
      listedBy: 'accounts list --json',
      optionOf: { accountId: 'the account', startedAt: '--started' },
      whenLost: again,
    },
    options,
  )
}

const requireSomething = (named: object): void => {
  if (Object.values(named).every((value) => value === undefined))
    throw usageFailure('Nothing is named to set.', 'Name at least one of the options; none unsets a limit. --help lists them.')
}
