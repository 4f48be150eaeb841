// Commands that change one thing: each composes a document of one entry, asks what it would change, and applies it when that is what was meant.
import { CommandFailure } from '../failure.ts'
import type { Fault } from '../failure.ts'
import type { DocumentPlan, Issued, PlannedChange } from '../records.ts'
import { openSession } from '../session.ts'
import type { CommonOptions, Session } from '../session.ts'
import type { World } from '../world.ts'
import { changeText } from './columns.ts'
import { warnOfTouchedOrders } from './orders.ts'

export interface Change {
  /** One section with one entry. */
  readonly section: string
  readonly entry: Readonly<Record<string, unknown>>
  /** Whether the record must be there, must not be, or may be either. */
  readonly record: 'new' | 'there' | 'any'
  /** For sentences: `the key k-1`. */
  readonly noun: string
  /** Where those that are there are listed. */
  readonly listedBy: string
  /** The options that stand for the entry's fields. */
  readonly optionOf?: Readonly<Record<string, string>>
  /** What to do when the answer is lost. */
  readonly whenLost: string
}

export type Done = Issued & DocumentPlan

export const changeRecord = async (
  world: World,
  change: Change,
  options: CommonOptions,
): Promise<{ readonly session: Session; readonly done: Done }> => {
  const session = await openSession(world, options)
  const document = { [change.section]: [change.entry] }
  const plan = await asked(change, () => session.api.post<DocumentPlan>('/plan', document, 'Call again: nothing was to be changed yet.'))
  const { changes } = plan
  requireExpected(change, changes)
  const nothing: Issued = { apiKeys: [], accessTokens: [] }
  const issued = changes.length === 0 ? nothing : await asked(change, () => session.api.post<Issued>('/apply', document, change.whenLost))
  return { session, done: { ...plan, ...issued } }
}

/** What was changed, or that it was so already. */
export const tellChange = async (world: World, change: Change, options: CommonOptions): Promise<void> => {
  const { session, done } = await changeRecord(world, change, options)
  session.json(done)
  if (done.changes.length === 0) session.say(`Nothing to change: ${change.noun} is so already.`)
  for (const one of done.changes) session.say(changeText(one))
  warnOfTouchedOrders(session, done.ordersUnderWay)
}

const requireExpected = ({ record, entry, noun, listedBy }: Change, changes: readonly PlannedChange[]): void => {
  if (record === 'new' && !changes.some(({ action }) => action === 'create'))
    throw new CommandFailure(`There is ${noun} already, and nothing was changed.`, {
      code: 'ALREADY_THERE',
      advice: ['Give another id, or none to have one made. To change what is there, apply a document.'],
    })
  // What is removed and not there makes no change.
  if (record === 'there' && (changes.some(({ action }) => action === 'create') || (entry['removed'] === true && changes.length === 0)))
    throw notThere(noun, listedBy)
}

const notThere = (noun: string, listedBy: string): CommandFailure =>
  new CommandFailure(`${noun.replace(/^the/, 'There is no')} here, and nothing was changed.`, {
    code: 'NOT_FOUND',
    advice: [`pnpm operator ${listedBy} shows those that are there.`],
  })

// The entry was written by us: its faults are told by the options that it was made of.
const asked = async <A>({ section, record, noun, listedBy, optionOf = {} }: Change, ask: () => Promise<A>): Promise<A> => {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.fields.faults === undefined) throw error
    // Whatever a record that is not there lacks: it was to be there.
    if (record === 'there' && error.fields.faults.every(({ message }) => message.includes('not there yet'))) throw notThere(noun, listedBy)
    const faults = error.fields.faults.map((fault) => namedByOption(fault, `${section}[0]`, optionOf))
    throw new CommandFailure(error.message, { ...error.fields, faults })
  }
}

const namedByOption = (fault: Fault, entry: string, optionOf: Readonly<Record<string, string>>): Fault => {
  const option = Object.entries(optionOf).find(([field]) => isAtOrBelow(fault.path, `${entry}.${field}`))?.[1]
  return option === undefined ? fault : { path: option, message: fault.message.replace(fault.path, 'it') }
}

const isAtOrBelow = (path: string, place: string): boolean => path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`)
