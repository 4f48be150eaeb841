// Every command: its name, its options and what it runs.
import { randomBytes, randomUUID } from 'node:crypto'
import { InvalidArgumentError } from 'commander'
import { segmentOf } from './api.ts'
import { applyDocument, changeRecord, type Change } from './change.ts'
import {
  namedByFlags,
  printForPeople,
  styled,
  type CommandContext,
  type Values,
} from './context.ts'
import { runDoctor } from './doctor.ts'
import { CommandFailure } from './failure.ts'
import {
  finishOrder,
  listings,
  recordsOf,
  showList,
  showOrder,
  showTenant,
  shownRows,
  tenantPath,
  type EditableList,
} from './lists.ts'
import { readInput } from './read-document.ts'
import { paperNames, writeReport } from './report.ts'
import { rotateSecrets } from './rotate-secrets.ts'

/**
 * An option by its flags: the field that it sets, its help, and how its text is read, or the texts
 * that it accepts.
 */
export type Options = Readonly<
  Record<
    string,
    readonly [
      field: string,
      help: string,
      read?: ((text: string, before?: readonly string[]) => unknown) | readonly string[],
    ]
  >
>

export interface Command {
  /** With its argument: `keys revoke <key>`. */
  readonly usage: string
  readonly help: string
  readonly required?: Options
  readonly options?: Options
  /** What stands behind `pnpm operator`. */
  readonly examples?: readonly string[]
  readonly run: (context: CommandContext) => Promise<void>
}

// What does not look like a number is wrong usage here, because JSON has no way to send it.
const digits = /^\d+(\.\d+)?$/
const parsePositiveNumber = (text: string): number => {
  if (digits.test(text) && Number(text) > 0 && Number.isFinite(Number(text))) return Number(text)
  throw new InvalidArgumentError('It must be a number above 0 in digits, such as 0.5.')
}
const parsePositiveInteger = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1.')
}

const parseDay = (text: string): string => {
  // February 30th is read as March 2nd.
  const read: string | null = new Date(`${text}T00:00Z`).toJSON()
  if (/^\d{4}-\d\d-\d\d$/.test(text) && read?.startsWith(text)) return text
  throw new InvalidArgumentError('It must be a day such as 2026-01-31.')
}

const parseFutureTime = (text: string): string => {
  // As the service reads it: a time without an offset is UTC.
  const at = Date.parse(/T[\d:.]+$/.test(text) ? `${text}Z` : text)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(at))
    throw new InvalidArgumentError(
      'It must be a day or a time such as 2027-01-31 or 2027-01-31T09:30:00Z.',
    )
  if (at > Date.now()) return text
  throw new InvalidArgumentError(`It must be in the future; now is ${new Date().toISOString()}.`)
}

/** Values with commas between them, or from a repeated option. */
const parseList = (text: string, before: readonly string[] = []): readonly string[] => {
  const parts = text.split(',').flatMap((part) => part.trim() || [])
  // Probably a variable that is not set: an empty list could allow everything, or nothing.
  if (parts.length === 0) throw new InvalidArgumentError('It must have at least one value.')
  return [...before, ...parts]
}

/** Builds the change for this call. */
type ChangeOf = (context: CommandContext) => Change | Promise<Change>

const runChange =
  (changeOf: ChangeOf): Command['run'] =>
  async (context) =>
    changeRecord(context, await changeOf(context))

const limit: Options = {
  '--limit <n>': ['limit', `how many at most; ${shownRows} without --json`, parsePositiveInteger],
}
const tenant: Options = { '--tenant <id>': ['tenantId', 'only of this tenant'] }
const list = (name: keyof typeof listings, help: string, options: Options = {}): Command => ({
  usage: `${name} list`,
  help,
  options: { ...options, ...limit },
  run: showList(name),
})
const owned: Options = { ...tenant, '--user <id>': ['userId', 'only what this user owns'] }
const user: Options = { '--user <id>': ['userId', 'the owner'] }

const idOf = ({ values: { id } }: CommandContext, make: () => string): string =>
  typeof id === 'string' ? id : make()

/** A change of a record that must exist, by its id. */
const existingRecordCommand = (
  verb: string,
  name: EditableList,
  help: string,
  fields: Values,
): Command => ({
  usage: `${name} ${verb} <${listings[name].singular}>`,
  help,
  run: runChange(({ argument: id }) => ({ list: name, id, isNew: false, fields })),
})

const tenantCommands: readonly Command[] = [
  list('tenants', 'all tenants'),
  {
    usage: 'tenants show <tenant>',
    help: 'one tenant: users, accounts, keys, tokens, desks, limits, challenges and risk thresholds',
    run: showTenant,
  },
  {
    usage: 'tenants create <tenant>',
    help: 'make a tenant',
    required: { '--name <text>': ['name', 'its name'] },
    options: {
      '--provider-token-file <file>': [
        'providerToken',
        'a file with its token at the provider; - reads standard input',
      ],
    },
    examples: ['tenants create acme --name Acme --provider-token-file token.txt'],
    run: async (context) => {
      const { argument: id, values } = context
      const { providerToken: file } = values
      const providerToken =
        typeof file === 'string' ? (await readInput(file, context)).trim() : undefined
      await changeRecord(
        { ...context, values: { ...values, providerToken } },
        { list: 'tenants', id, isNew: true },
      )
    },
  },
  list('users', 'users with their plans', tenant),
  {
    usage: 'users create <user>',
    help: 'make a user',
    required: {
      '--tenant <id>': ['tenantId', 'the tenant'],
      '--email <address>': ['email', 'where notices go'],
    },
    options: { '--plan <plan>': ['plan', 'free, pro or enterprise; free when left out'] },
    examples: ['users create u-1 --tenant acme --email owner@example.com --plan pro'],
    run: runChange(({ argument: id }) => ({ list: 'users', id, isNew: true })),
  },
]

/** What the provider says of the account. */
const describeAccount = async (context: CommandContext): Promise<Values> => {
  const { userId, providerAccountId: id } = context.values
  if (typeof id !== 'string') return {}
  for await (const found of recordsOf(context, 'users', {}))
    if (found['id'] === userId) {
      await printOtherLinks(context, id)
      const ofTenant = tenantPath(String(found['tenantId']))
      return namedByFlags(context, () =>
        context.api.get(`${ofTenant}/provider-accounts/${segmentOf(id)}`),
      )
    }
  throw new CommandFailure(
    'NOT_FOUND',
    `There is no user ${String(userId)}, and nothing was changed.`,
    {
      advice: ['pnpm operator users list shows those that exist.'],
    },
  )
}

const printOtherLinks = async (context: CommandContext, id: string): Promise<void> => {
  for await (const linked of recordsOf(context, 'accounts', {})) {
    const { id: other, userId: holder, tenantId: tenant, providerAccountId } = linked
    if (providerAccountId === id)
      printForPeople(
        context,
        styled(
          'yellow',
          `Notice: tenant ${String(tenant)} already has this provider account, as ${String(other)} of ${String(holder)}.`,
        ),
      )
  }
}

const accountCommands: readonly Command[] = [
  list('accounts', 'linked accounts as they are stored', owned),
  {
    usage: 'accounts link',
    help: 'link an account to a user; with --provider-account, the provider says what is left out',
    required: user,
    options: {
      '--provider-account <id>': [
        'providerAccountId',
        'its id at the connectivity provider, without which it cannot be read',
      ],
      '--name <text>': ['name', 'its label'],
      '--number <login>': ['accountNumber', 'its login at the broker'],
      '--server <name>': ['server', "the broker's server"],
      '--currency <code>': ['currency', 'its currency, such as USD'],
      '--platform <code>': [
        'brokerType',
        'paper is for practice; mt5 when neither this nor the provider says',
        ['mt4', 'mt5', 'paper'],
      ],
      '--purpose <purpose>': [
        'purpose',
        'trading, introducing_broker or trade_copier; trading when left out',
      ],
      '--demo': ['isDemo', 'it is a demo account, unless its broker says otherwise'],
      '--broker <name>': ['broker', "the broker's name"],
      '--region <region>': ['region', "the provider's region"],
      '--id <uuid>': ['id', 'its id here; made when left out'],
    },
    examples: [
      'accounts link --user u-1 --provider-account 9f0e…',
      'accounts link --user u-1 --name Main --number 5012345 --server Example-Demo --currency USD --demo',
    ],
    run: runChange(async (context) => ({
      list: 'accounts',
      id: idOf(context, randomUUID),
      isNew: true,
      fields: { brokerType: 'mt5', purpose: 'trading', ...(await describeAccount(context)) },
    })),
  },
  existingRecordCommand(
    'unlink',
    'accounts',
    'remove an account, with its limits, challenges and balance history; orders stay',
    { removed: true },
  ),
]

const credentialCommands: readonly Command[] = [
  list('keys', 'API keys by their ids; a key itself is shown only when it is made', owned),
  {
    usage: 'keys make',
    help: 'make an API key and show it, this once',
    required: user,
    options: {
      '--scope <scopes>': [
        'scopes',
        'such as trading:read; repeat or separate with commas; default: accounts:read,market-data:read',
        parseList,
      ],
      '--allow <networks>': [
        'ipAllowlist',
        'addresses or CIDRs from which it may be used; everywhere when left out',
        parseList,
      ],
      '--expires <time>': [
        'expiresAt',
        'from when it is refused, such as 2027-01-31 or 2027-01-31T09:30:00Z; never when left out',
        parseFutureTime,
      ],
      '--name <text>': ['name', 'a label'],
      '--id <id>': ['id', 'its id; made when left out'],
    },
    examples: ['keys make --user u-1 --scope trading:read,history:read --allow 10.0.0.0/8'],
    run: runChange((context) => {
      const id = idOf(context, () => `key-${randomBytes(6).toString('hex')}`)
      return {
        list: 'keys',
        id,
        isNew: true,
        whenLost: `The key ${id} may exist but cannot be shown again. Revoke it with pnpm operator keys revoke ${id} and create another.`,
      }
    }),
  },
  existingRecordCommand('revoke', 'keys', 'revoke an API key; it stays in the list', {
    enabled: false,
  }),
  list('tokens', 'stored access tokens by their ids', owned),
  existingRecordCommand('revoke', 'tokens', 'revoke an access token; it stays in the list', {
    enabled: false,
  }),
]

const orderCommands: readonly Command[] = [
  list('orders', 'orders under way of all tenants, oldest first', {
    ...tenant,
    '--stuck': ['stuck', 'only orders that are pending, or missing at the broker, for ten minutes'],
  }),
  { usage: 'orders show <order>', help: 'one order, under way or ended', run: showOrder },
  {
    usage: 'orders finish <order>',
    help: "end a pending or open order by hand, after you have seen its outcome in the broker's records",
    required: {
      '--as <outcome>': ['as', 'how it ended at the broker', ['filled', 'rejected', 'cancelled']],
      '--reason <text>': [
        'reason',
        'why you end it; kept with the order, and the message of a rejection, which its user sees',
      ],
    },
    options: {
      '--price <price>': ['price', 'the price of the execution', parsePositiveNumber],
      '--volume <lots>': [
        'volume',
        "the lots that were executed; fewer than the order's make it partially filled",
        parsePositiveNumber,
      ],
      '--position <number>': ['position', "the broker's number of the position"],
      '--by <name>': ['by', 'who you are; operator when left out'],
    },
    examples: [
      'orders finish ord_… --as filled --price 1.0842 --volume 0.1 --position 90001 --reason "seen in the terminal" --by kim',
      'orders finish ord_… --as rejected --reason "the broker has no such order"',
    ],
    run: finishOrder,
  },
]

export const commands: readonly Command[] = [
  {
    usage: 'apply <file>',
    help: 'bring the records to what a document says, JSON or YAML; - reads standard input',
    options: {
      '--plan': ['plan', 'only show what would change and which orders under way it touches'],
    },
    examples: ['apply acme.yaml --plan', 'apply acme.yaml', 'apply - < acme.json'],
    run: applyDocument,
  },
  ...tenantCommands,
  ...accountCommands,
  ...credentialCommands,
  list('desks', 'desks with their limits and accounts', tenant),
  ...orderCommands,
  {
    usage: 'report',
    help: "write the report of an account as a PDF: the console's page, printed by an installed Chromium (CHROMIUM_PATH)",
    required: {
      '--account <id>': ['accountId', 'the account'],
      '--output <file>': ['output', 'the PDF'],
    },
    options: {
      '--from <day>': [
        'from',
        "the first day, in this machine's time zone or that of TZ",
        parseDay,
      ],
      '--to <day>': ['to', 'the last day', parseDay],
      '--paper <paper>': ['paper', 'a4 when left out', paperNames],
      '--api-url <url>': [
        'apiUrl',
        'where the API for users and its console are (API_URL), http://127.0.0.1:3000 when neither is given',
      ],
    },
    examples: ['report --account 0b1f6a52-… --from 2026-01-01 --to 2026-03-31 --output q1.pdf'],
    run: writeReport,
  },
  {
    usage: 'doctor',
    help: "check what the service depends on, what has stopped in it, and each tenant's provider token; the exit code is 1 when a check fails",
    options: {
      '--tenant <id>': ['tenantId', 'of the provider tokens, check only that of this tenant'],
    },
    run: runDoctor,
  },
  {
    usage: 'secrets rotate',
    help: 'encrypt all stored secrets with SECRETS_KEY, after it was changed and the old one moved to SECRETS_KEY_PREVIOUS (docs/operations.md)',
    run: rotateSecrets,
  },
]
