// Keeps a sandbox between starts. The file holds what came after the options; what the options make
// is made again from seed and anchor.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  type Account,
  enterDeal,
  enterOrder,
  type PendingOrder,
  type AcceptedTrade,
  type Position,
} from './account.ts'
import type { Core } from './core.ts'
import { instrumentOf, type Quote } from './market.ts'
import { decimal } from './numbers.ts'
import type { DealRow, OrderRow } from './rows.ts'

const decimalFields = [
  'volume',
  'openPrice',
  'swap',
  'entryCommission',
  'realizedProfit',
  'realizedCommission',
  'realizedSwap',
  'stopLoss',
  'takeProfit',
] as const

/** As JSON: decimals are text, and absent levels are left out. */
type SavedPosition = Omit<Position, (typeof decimalFields)[number] | 'instrument'> &
  Readonly<Partial<Record<(typeof decimalFields)[number], string>>>

type AccountSnapshot = {
  readonly positions: readonly SavedPosition[]
  readonly deals: readonly DealRow[]
  readonly orders: readonly OrderRow[]
  readonly placed: readonly AcceptedTrade[]
  readonly pending: readonly PendingOrder[]
  readonly nextOrder: number
  readonly nextDeal: number
}

const snapshotOf = (account: Account) => ({
  positions: account.positions.map(({ instrument: _instrument, ...position }) => position),
  deals: account.newDeals,
  orders: account.newOrders,
  placed: account.placed,
  pending: account.pending,
  nextOrder: account.nextOrder,
  nextDeal: account.nextDeal,
})

/** Brings an account that was just made from its options to where it was left. */
const restore = (account: Account, saved: AccountSnapshot): void => {
  for (const row of saved.deals) enterDeal(account, row)
  for (const row of saved.orders) enterOrder(account, row)
  account.positions = saved.positions.map((position) => loadPosition(account, position))
  account.placed = saved.placed.map((order) => ({ ...order, wait: { ...order.wait } }))
  account.pending = saved.pending.map((order) => ({ ...order }))
  account.nextOrder = saved.nextOrder
  account.nextDeal = saved.nextDeal
}

const loadPosition = (account: Account, saved: SavedPosition): Position => {
  const instrument = instrumentOf(account.market, saved.symbol)
  const decimals = decimalFields.map((field) => {
    const { [field]: text } = saved
    return [field, text === undefined ? undefined : decimal(text)]
  })
  return { ...saved, instrument, ...Object.fromEntries(decimals) }
}

export type SavedState = {
  readonly version: 3
  readonly seed: number
  readonly anchor: number
  readonly accounts: Readonly<Record<string, AccountSnapshot & { readonly madeFrom: string }>>
  readonly pinned: Readonly<Record<string, Quote>>
  readonly closed: readonly string[]
}

const writeAfterMs = 50

export const readState = (path: string): SavedState | undefined => {
  if (!existsSync(path)) return undefined
  const state = parse(readFileSync(path, 'utf8')) as Partial<SavedState> | undefined
  if (state?.version !== 3 || typeof state.anchor !== 'number' || state.accounts === undefined) {
    throw new Error(`${path} is not the state of a sandbox; move it away to start anew`)
  }
  return state as SavedState
}

/** Restores the state. Throws if the file belongs to other options. */
export const applyState = (core: Core, state: SavedState, path: string): void => {
  if (state.seed !== core.seed)
    throw new Error(
      `${path} was made with seed ${state.seed}, not ${core.seed}; move it away to start anew`,
    )
  for (const [id, saved] of Object.entries(state.accounts)) {
    const account = core.accounts.get(id)
    if (account === undefined) continue
    if (fingerprintOf(account) !== saved.madeFrom)
      throw new Error(
        `${path} holds account ${id} made from other options; move it away to start anew`,
      )
    restore(account, saved)
  }
  for (const [symbol, quote] of Object.entries(state.pinned)) core.market.prices.pin(symbol, quote)
  for (const symbol of state.closed) core.market.setOpen(symbol, false)
}

export type StateWriter = {
  /** Writes soon, when anything has changed since the last write. */
  readonly changed: () => void
  /** Writes what is left to write. */
  readonly close: () => Promise<void>
}

export const noStateWriter: StateWriter = {
  changed: () => undefined,
  close: () => Promise.resolve(),
}

export const createStateWriter = (core: Core, path: string): StateWriter => {
  let written = ''
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const write = (): void => {
    timer = undefined
    const mark = markOf(core)
    if (mark === written) return
    written = mark
    const text = JSON.stringify(stateOf(core))
    writing = writing
      // This write replaces one that failed.
      .catch(() => undefined)
      .then(() => replace(path, text))
    // Only close reports the failure; the next change tries again.
    writing.catch(() => {
      written = ''
    })
  }

  return {
    changed: () => {
      if (timer === undefined && markOf(core) !== written) timer = setTimeout(write, writeAfterMs)
    },
    close: async () => {
      clearTimeout(timer)
      write()
      await writing
    },
  }
}

/** Differs whenever anything that the file keeps does. */
const markOf = (core: Core): string =>
  JSON.stringify([
    [...core.accounts.values()].map((account) => account.revision),
    core.market.prices.pinned(),
    core.market.closedSymbols(),
  ])

const stateOf = (core: Core) => ({
  version: 3,
  seed: core.seed,
  anchor: core.anchor,
  accounts: Object.fromEntries(
    [...core.accounts].map(([id, account]) => [
      id,
      { ...snapshotOf(account), madeFrom: fingerprintOf(account) },
    ]),
  ),
  pinned: core.market.prices.pinned(),
  closed: core.market.closedSymbols(),
})

/** Changes with the code that generates histories: a file continues one of the same revision. */
const generatorRevision = 2

/** Of the options that shape the history; the others may change between starts. */
const fingerprintOf = ({ madeFrom }: Account): string => {
  const {
    name: _name,
    broker: _broker,
    server: _server,
    login: _login,
    leverage: _leverage,
    region: _region,
    keepsOpen: _keepsOpen,
    ...kept
  } = madeFrom
  return createHash('sha256')
    .update(JSON.stringify(kept.generate === undefined ? kept : { ...kept, generatorRevision }))
    .digest('hex')
}

/** Atomically, by a rename. */
const replace = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  const fresh = `${path}.${process.pid}.tmp`
  try {
    const file = await open(fresh, 'w', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
