// Commands that change one thing: each composes a document of one entry, asks what it would change,
// and applies it when that is what was meant.
import { CommandFailure } from '../failure.ts'
import type { Fault } from '../failure.ts'
import type { DocumentPlan, Issued, PlannedChange } from '../records.ts'
import { none } from '../option-values.ts'
import { openSession } from '../session.ts'
import type { CommonOptions, Session } from '../session.ts'
import type { World } from '../world.ts'
import { changeText } from './columns.ts'
import { warnOfTouchedOrders } from './orders.ts'

/** Of a command that changes one thing: what it takes besides the options of every command. */
export type ChangeOptions = CommonOptions & {
  readonly id?: string
  readonly user?: string
  readonly started?: string
} & Readonly<Record<string, unknown>>

export interface Change {
  /** One section with one entry. */
  readonly section: string
  /** What the entry has besides the values of options. */
  readonly key: Readonly<Record<string, unknown>>
  /**
   * The option that each field is read from, by its name without dashes: `providerAccount` for
   * --provider-account. `limits.x` is the field x of limits.
   */
  readonly fields?: Readonly<Record<string, string>>
  /** Whether the record must be there, must not be, or may be either. */
  readonly record: 'new' | 'there' | 'any'
  /** For sentences: `the key k-1`. */
  readonly noun: string
  /** Where those that are there are listed. */
  readonly listedBy: string
  /** What to do when the answer is lost. */
  readonly whenLost: string
}

const entryOf = ({ key, fields = {} }: Change, options: ChangeOptions): object => {
  const entry: Record<string, unknown> = { ...key }
  for (const [field, option] of Object.entries(fields)) {
    const [outer = '', inner] = field.split('.')
    const value = options[option]
    if (inner === undefined) entry[outer] ??= value
    // A limit, which `none` unsets.
    else entry[outer] = { ...Object(entry[outer]), [inner]: value === none ? null : value }
  }
  return entry
}

export type Done = Issued & DocumentPlan

export const changeRecord = async (
  world: World,
  change: Change,
  options: ChangeOptions,
): Promise<{ readonly session: Session; readonly done: Done }> => {
  const session = await openSession(world, options)
  const document = { [change.section]: [entryOf(change, options)] }
  const plan = await asked(change, () =>
    session.api.post<DocumentPlan>('/plan', document, 'Call again: nothing was to be changed yet.'),
  )
  const { changes } = plan
  requireExpected(change, changes)
  const nothing: Issued = { apiKeys: [], accessTokens: [] }
  const issued =
    changes.length === 0
      ? nothing
      : await asked(change, () => session.api.post<Issued>('/apply', document, change.whenLost))
  return { session, done: { ...plan, ...issued } }
}

/** What was changed, or that it was so already. */
export const tellChange = async (
  world: World,
  change: Change,
  options: ChangeOptions,
): Promise<void> => {
  const { session, done } = await changeRecord(world, change, options)
  session.json(done)
  if (done.changes.length === 0) session.say(`Nothing to change: ${change.noun} is so already.`)
  for (const one of done.changes) session.say(changeText(one))
  warnOfTouchedOrders(session, done.ordersUnderWay)
}

const requireExpected = (
  { record, key, noun, listedBy }: Change,
  changes: readonly PlannedChange[],
): void => {
  if (record === 'new' && !changes.some(({ action }) => action === 'create'))
    throw new CommandFailure(`There is ${noun} already, and nothing was changed.`, {
      code: 'ALREADY_THERE',
      advice: [
        'Give another id, or none to have one made. To change what is there, apply a document.',
      ],
    })
  // What is removed and not there makes no change.
  if (
    record === 'there' &&
    (changes.some(({ action }) => action === 'create') ||
      (key['removed'] === true && changes.length === 0))
  )
    throw notThere(noun, listedBy)
}

const notThere = (noun: string, listedBy: string): CommandFailure =>
  new CommandFailure(`${noun.replace(/^the/, 'There is no')} here, and nothing was changed.`, {
    code: 'NOT_FOUND',
    advice: [`pnpm operator ${listedBy} shows those that are there.`],
  })

// The entry was written by us: its faults are told by the options that it was made of.
const asked = async <A>(
  { section, record, noun, listedBy, fields = {} }: Change,
  ask: () => Promise<A>,
): Promise<A> => {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.fields.faults === undefined) throw error
    // Whatever a record that is not there lacks: it was to be there.
    if (
      record === 'there' &&
      error.fields.faults.every(({ message }) => message.includes('not there yet'))
    )
      throw notThere(noun, listedBy)
    const faults = error.fields.faults.map((fault) => namedByOption(fault, `${section}[0]`, fields))
    throw new CommandFailure(error.message, { ...error.fields, faults })
  }
}

const namedByOption = (
  fault: Fault,
  entry: string,
  fields: Readonly<Record<string, string>>,
): Fault => {
  const option = Object.entries(fields).find(([field]) =>
    isAtOrBelow(fault.path, `${entry}.${field}`),
  )?.[1]
  const isArgument = fault.path === `${entry}.accountId`
  if (option === undefined && !isArgument) return fault
  const path =
    option === undefined
      ? 'the account'
      : `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return { path, message: fault.message.replace(fault.path, 'it') }
}

const isAtOrBelow = (path: string, place: string): boolean =>
  path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`)
