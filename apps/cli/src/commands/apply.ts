// Applying a whole document, or telling what applying it would change.
import { CommandFailure } from '../failure.ts'
import { readDocument } from '../read-document.ts'
import type { ReadDocument } from '../read-document.ts'
import type { DocumentPlan, Issued } from '../records.ts'
import { openSession } from '../session.ts'
import type { CommonOptions, Session } from '../session.ts'
import type { World } from '../world.ts'
import { changeText } from './columns.ts'
import { warnOfTouchedOrders } from './orders.ts'

export interface ApplyOptions extends CommonOptions {
  readonly plan?: boolean | undefined
}

export const applyDocument = async (
  world: World,
  file: string,
  options: ApplyOptions,
): Promise<void> => {
  const read = await readDocument(world, file)
  const session = await openSession(world, options)
  await withLines(read, () =>
    options.plan === true ? tellPlan(session, read) : apply(session, read),
  )
}

const tellPlan = async (session: Session, { document }: ReadDocument): Promise<void> => {
  const plan = await readPlan(session, document)
  const { changes, ordersUnderWay } = plan
  session.json(plan)
  for (const change of changes) session.say(changeText(change))
  if (changes.length === 0)
    session.say('Nothing would change: all that the document names is so already.')
  else
    session.say(
      `\n${changes.length} ${changes.length === 1 ? 'change' : 'changes'} would be made. Nothing was changed.`,
    )
  warnOfTouchedOrders(session, ordersUnderWay)
}

const readPlan = (session: Session, document: unknown): Promise<DocumentPlan> =>
  session.api.post('/plan', document, 'Call again: nothing was changed yet.')

const apply = async (session: Session, { document }: ReadDocument): Promise<void> => {
  const ordersUnderWay = session.isJson ? [] : (await readPlan(session, document)).ordersUnderWay
  const issued = await session.api.post<Issued>(
    '/apply',
    document,
    'Apply it again: what is so already is not changed twice. Keys and tokens that it made without your giving their texts are then there and cannot be shown: revoke those.',
  )
  session.json(issued)
  session.say('The document is applied.')
  warnOfTouchedOrders(session, ordersUnderWay)
  const secrets = [
    ...issued.apiKeys.map(({ id, key }) => ({ kind: 'key', id, secret: key })),
    ...issued.accessTokens.map(({ id, token }) => ({ kind: 'token', id, secret: token })),
  ]
  if (secrets.length === 0) return
  session.say(
    '\nThese keys and tokens were made or given now. This is the only time that they are shown:\n',
  )
  for (const { kind, id, secret } of secrets) session.say(`  ${kind} ${id}  ${secret}`)
}

const withLines = async ({ lineOf }: ReadDocument, work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.fields.faults === undefined) throw error
    const faults = error.fields.faults.map((fault) => ({ ...fault, line: lineOf(fault.path) }))
    throw new CommandFailure(error.message, { ...error.fields, faults })
  }
}
