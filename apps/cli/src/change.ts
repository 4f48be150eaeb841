// Applying documents: whole ones from a file, and those of one entry that a command composes.
import {
  namedByFlags,
  printForPeople,
  printForPrograms,
  styled,
  type CommandContext,
  type Values,
} from './context.ts'
import { CommandFailure, withIssues, type Issue } from './failure.ts'
import { listings, type EditableList } from './lists.ts'
import { readDocument } from './read-document.ts'
import { valueText } from './table.ts'

interface RecordChange {
  readonly section: string
  readonly id: string
  readonly action: 'create' | 'change' | 'remove'
  /** Without values where the field is a secret that is set. */
  readonly fields: readonly {
    readonly field: string
    readonly from?: unknown
    readonly to?: unknown
  }[]
  /** What goes with a tenant or a user, by section. */
  readonly alsoRemoved?: Readonly<Record<string, number>>
}

interface Plan {
  readonly changes: readonly RecordChange[]
  /** Null where the document was applied and they could not be read. */
  readonly ordersUnderWay:
    | readonly {
        readonly id: string
        readonly accountId: string
        readonly step: string
        readonly effects: readonly string[]
      }[]
    | null
}

interface Applied extends Plan {
  readonly apiKeys: readonly { readonly id: string; readonly key: string }[]
  readonly accessTokens: readonly { readonly id: string; readonly token: string }[]
}

const singularBySection: Readonly<Record<string, string>> = {
  users: 'user',
  accounts: 'account',
  apiKeys: 'key',
  accessTokens: 'token',
  desks: 'desk',
  webhooks: 'webhook',
}

/** `change apiKeys k-1: enabled yes -> no`; of a new record the fields that it has. */
const changeText = ({ section, id, action, fields, alsoRemoved = {} }: RecordChange): string => {
  const texts = fields
    .filter(({ to }) => action !== 'create' || to !== null)
    .map(({ field, from, to }) => {
      if (to === undefined) return `${field} (a secret)`
      return `${field} ${from === undefined ? '' : `${valueText(from, field)} -> `}${valueText(to, field)}`
    })
  const removed = Object.entries(alsoRemoved).flatMap(([name, count]) => {
    const singular = singularBySection[name] ?? name
    return count === 0 ? [] : [`${count} ${singular}${count === 1 ? '' : 's'}`]
  })
  const more = removed.length === 0 ? '' : `, with ${removed.join(', ')}`
  return `${action} ${section} ${id}${more}${texts.length === 0 ? '' : `: ${texts.join(', ')}`}`
}

const effectTexts: Readonly<Record<string, string>> = {
  tenant_removed: 'its tenant is removed',
  user_removed: 'its user is removed',
  account_removed: 'its account is removed',
  account_relinked: 'its account is linked to another provider account, region or platform',
  provider_token_changed: 'the provider token of its tenant is changed',
  provider_token_removed: 'the provider token of its tenant is removed',
}

const printPlan = (context: CommandContext, { changes, ordersUnderWay: orders }: Plan): void => {
  printForPeople(context, ...changes.map(changeText))
  if (orders === null)
    return printForPeople(
      context,
      styled(
        'yellow',
        '\nWarning: the orders under way that this affects cannot be read now; pnpm operator orders list shows those that there are.',
      ),
    )
  if (orders.length === 0) return
  const count =
    orders.length === 1 ? '1 order under way is' : `${orders.length} orders under way are`
  printForPeople(context, styled('yellow', `\nWarning: ${count} affected:`))
  for (const { id, accountId, step, effects } of orders) {
    const what = effects.map((effect) => effectTexts[effect] ?? effect).join(', ')
    printForPeople(context, `  ${id} (${step}) on account ${accountId}: ${what}`)
  }
  printForPeople(
    context,
    'They are looked up where they were sent, which needs a provider token. Without one, end them with pnpm operator orders finish.',
  )
  if (orders.some(({ step }) => step === 'open'))
    printForPeople(
      context,
      'Those that are open stay at the broker, and once the user or the account is removed nobody can cancel them here: cancel them before.',
    )
}

const printIssued = (context: CommandContext, { apiKeys, accessTokens }: Applied): void => {
  const secrets = [
    ...apiKeys.map(({ id, key }) => `  key ${id}  ${key}`),
    ...accessTokens.map(({ id, token }) => `  token ${id}  ${token}`),
  ]
  if (secrets.length > 0)
    printForPeople(context, '\nKeys and tokens are shown only this once:\n', ...secrets)
}

export const applyDocument = async (context: CommandContext): Promise<void> => {
  const { document, lineOf } = await readDocument(context)
  await withIssues(
    (issue) => ({ ...issue, line: lineOf(issue.path) }),
    async () => {
      if (context.values['plan'] === true) {
        const plan = await context.api.post<Plan>('/plan', document)
        printForPrograms(context, plan)
        printPlan(context, plan)
        const count = plan.changes.length
        return printForPeople(
          context,
          count === 0
            ? 'Nothing would change: the records are already as the document says.'
            : `\n${count} ${count === 1 ? 'change' : 'changes'} would be made. Nothing was changed.`,
        )
      }
      const applied = await context.api.post<Applied>(
        '/apply',
        document,
        'Apply it again: it makes each change once. Keys and tokens that were generated then exist and cannot be shown: revoke those.',
      )
      printForPrograms(context, applied)
      printPlan(context, applied)
      printForPeople(
        context,
        applied.changes.length === 0
          ? 'Nothing to change: the records are already as the document says.'
          : 'The document is applied.',
      )
      printIssued(context, applied)
    },
  )
}

/** A change of one record. */
export interface Change {
  readonly list: EditableList
  readonly id: string
  /** Whether the record must be new or must exist. */
  readonly isNew: boolean
  /** Its fields where no option is given for them. */
  readonly fields?: Values
  /** What to do when the answer is lost. */
  readonly whenLost?: string
}

export const changeRecord = async (
  context: CommandContext,
  { list, id, isNew, fields, whenLost }: Change,
): Promise<void> => {
  const { section, singular } = listings[list]
  const label = `${singular} ${id}`
  const listCommand = `pnpm operator ${list} list`
  const refuse = (issue: Issue): Issue => {
    if (issue.path !== `${section}[0].new`) return issue
    throw isNew
      ? new CommandFailure('ALREADY_THERE', `There already is ${label}, and nothing was changed.`, {
          advice: ['Give another id. To change what exists, apply a document.'],
        })
      : new CommandFailure('NOT_FOUND', `There is no ${label}, and nothing was changed.`, {
          advice: [`${listCommand} shows those that exist.`],
        })
  }
  const given = Object.fromEntries(
    Object.entries(context.values).filter(([, value]) => value !== undefined),
  )
  const applied = await namedByFlags(context, () =>
    withIssues(refuse, () =>
      context.api.post<Applied>(
        '/apply',
        { [section]: [{ ...fields, id, new: isNew, ...given }] },
        whenLost ??
          (isNew
            ? `See whether it was made: ${listCommand}.`
            : 'Call again: a change is made once.'),
      ),
    ),
  )
  printForPrograms(context, applied)
  printPlan(context, applied)
  if (applied.changes.length === 0)
    printForPeople(context, `No changes; already as requested: ${label}.`)
  printIssued(context, applied)
}
