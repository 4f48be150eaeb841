// Linking accounts, and what the head trader sets for them: limits of a trader and of a desk, and
// challenges.
import { randomUUID } from 'node:crypto'
import { usageFailure } from '../failure.ts'
import type { World } from '../world.ts'
import { tellChange } from './change.ts'
import type { Change, ChangeOptions } from './change.ts'

const again = 'Call again: what is so already is not changed twice.'

const removal = (section: string, key: object, noun: string, listedBy: string): Change => ({
  section,
  key: { ...key, removed: true },
  record: 'there',
  noun,
  listedBy,
  whenLost: again,
})

const accountFields = {
  id: 'id',
  userId: 'user',
  name: 'name',
  brokerType: 'platform',
  accountNumber: 'number',
  server: 'server',
  currency: 'currency',
  purpose: 'purpose',
  isDemo: 'demo',
  broker: 'broker',
  providerAccountId: 'providerAccount',
  region: 'region',
}

export const linkAccount = (world: World, options: ChangeOptions): Promise<void> => {
  const id = options.id ?? randomUUID()
  return tellChange(
    world,
    {
      section: 'accounts',
      key: { id },
      fields: accountFields,
      record: 'new',
      noun: `an account ${id}`,
      listedBy: 'accounts list',
      whenLost: 'Look whether it was linked: pnpm operator accounts list.',
    },
    options,
  )
}

export const unlinkAccount = (world: World, id: string, options: ChangeOptions): Promise<void> =>
  tellChange(world, removal('accounts', { id }, `the account ${id}`, 'accounts list'), options)

const deskLimits = {
  'limits.maxOpenLots': 'maxOpenLots',
  'limits.maxOpenPositions': 'maxOpenPositions',
  'limits.allowedSymbols': 'symbols',
}
const traderLimits = {
  ...deskLimits,
  'limits.maxLotsPerOrder': 'maxLotsPerOrder',
  'limits.approvalAboveLots': 'approvalAbove',
}
const deskFields = { tenantId: 'tenant', accounts: 'account', ...deskLimits }

/** Sets what the options name. */
const set = (
  world: World,
  change: Pick<Change, 'section' | 'key' | 'noun' | 'listedBy'>,
  fields: Readonly<Record<string, string>>,
  options: ChangeOptions,
): Promise<void> => {
  if (Object.values(fields).every((option) => options[option] === undefined))
    throw usageFailure(
      'Nothing is named to set.',
      'Name at least one of the options; none unsets a limit. --help lists them.',
    )
  return tellChange(world, { ...change, fields, record: 'any', whenLost: again }, options)
}

export const setTraderLimits = (
  world: World,
  accountId: string,
  options: ChangeOptions,
): Promise<void> => {
  const noun = `what limits the account ${accountId}`
  return set(
    world,
    { section: 'traderLimits', key: { accountId }, noun, listedBy: 'accounts list' },
    traderLimits,
    options,
  )
}

export const clearTraderLimits = (
  world: World,
  accountId: string,
  options: ChangeOptions,
): Promise<void> => {
  const change = removal(
    'traderLimits',
    { accountId },
    `the account ${accountId} without limits`,
    'accounts list',
  )
  return tellChange(world, { ...change, record: 'any' }, options)
}

export const setDesk = (world: World, id: string, options: ChangeOptions): Promise<void> =>
  set(
    world,
    { section: 'desks', key: { id }, noun: `the desk ${id}`, listedBy: 'desks list' },
    deskFields,
    options,
  )

export const removeDesk = (world: World, id: string, options: ChangeOptions): Promise<void> =>
  tellChange(world, removal('desks', { id }, `the desk ${id}`, 'desks list'), options)

const challengeOf = (accountId: string, options: ChangeOptions): string =>
  `the challenge of ${accountId} that started ${options.started ?? ''}`

export const setChallenge = (
  world: World,
  accountId: string,
  options: ChangeOptions,
): Promise<void> => {
  const fields = { startedAt: 'started', status: 'status' }
  const noun = challengeOf(accountId, options)
  return set(
    world,
    { section: 'challenges', key: { accountId }, noun, listedBy: 'accounts list --json' },
    fields,
    options,
  )
}

export const removeChallenge = (
  world: World,
  accountId: string,
  options: ChangeOptions,
): Promise<void> => {
  const change = removal(
    'challenges',
    { accountId },
    challengeOf(accountId, options),
    'accounts list --json',
  )
  return tellChange(world, { ...change, fields: { startedAt: 'started' } }, options)
}
