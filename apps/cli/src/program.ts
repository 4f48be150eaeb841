// The command line as a whole: its commands, their options and the words of their help.
import { Command, Option } from 'commander'
import { applyDocument } from './commands/apply.ts'
import {
  accountColumns,
  deskColumns,
  keyColumns,
  orderColumns,
  tenantColumns,
  tokenColumns,
  userColumns,
} from './commands/columns.ts'
import { makeKey, revokeKey, revokeToken } from './commands/credentials.ts'
import { examine } from './commands/doctor.ts'
import { readOfTenants, readOrders, readTenants, showList, shownRows } from './commands/lists.ts'
import type { Listing } from './commands/lists.ts'
import { finishOrder, showOrder } from './commands/orders.ts'
import {
  clearTraderLimits,
  linkAccount,
  removeChallenge,
  removeDesk,
  setChallenge,
  setDesk,
  setTraderLimits,
  unlinkAccount,
} from './commands/settings.ts'
import { rotateSecrets } from './commands/rotate-secrets.ts'
import { showTenant } from './commands/show-tenant.ts'
import {
  limitOrNone,
  numberAboveZero,
  several,
  symbolsOrNone,
  wholeNumber,
} from './option-values.ts'
import type { AccessToken, Account, ApiKey, Desk, User } from './records.ts'
import type { World } from './world.ts'

const where = `
Where and as whom:
  --url or OPERATOR_URL             the operator API, http://127.0.0.1:3001 when neither is given
  --token-file or OPERATOR_TOKEN    its token; without both, the one that the service keeps in DATA_DIR

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`

/** @param world read and written by every command */
export const createProgram = (world: World): Command => {
  const program = new Command('operator')
    .description(
      "The operator's command line of Tradeport, over the operator API of a running service.",
    )
    .usage('<command> [options]')
    .addHelpText('after', where)
    .showHelpAfterError('--help tells how it is called.')
    .configureOutput({
      writeOut: world.out,
      writeErr: world.err,
      getOutHelpWidth: () => world.width ?? 100,
      getErrHelpWidth: () => world.width ?? 100,
    })
    .exitOverride()
  addDocuments(program, world)
  addTenants(program, world)
  addAccounts(program, world)
  addCredentials(program, world)
  addRules(program, world)
  addOrders(program, world)
  addService(program, world)
  return program
}

/** A command with what every command takes. */
const leaf = (parent: Command, nameAndArguments: string, description: string): Command =>
  parent
    .command(nameAndArguments)
    .description(description)
    .option(
      '--json',
      'for programs: data as JSON on standard output, an error as JSON on standard error',
    )
    .option('--url <url>', 'where the operator API is (OPERATOR_URL)')
    .option('--token-file <file>', 'a file that holds the token (OPERATOR_TOKEN)')

const group = (parent: Command, name: string, description: string): Command =>
  parent.command(name).description(description)

const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  pnpm operator ${line}`).join('\n')}`

const addDocuments = (program: Command, world: World): void => {
  leaf(
    program,
    'apply <file>',
    'bring the records to what a document says, JSON or YAML; - reads standard input',
  )
    .option(
      '--plan',
      'show what would change and which orders under way it touches; changes nothing',
    )
    .addHelpText(
      'after',
      examples('apply acme.yaml --plan', 'apply acme.yaml', 'apply - < acme.json'),
    )
    .action((file, options) => applyDocument(world, file, options))
}

const shownText = `how many at most; ${shownRows} without --json`

const listOptions = (command: Command): Command =>
  command
    .option('--tenant <id>', 'of this tenant alone, instead of all')
    .option('--limit <n>', shownText, wholeNumber)

/** @param below the path of the records, below that of their tenant */
const addList = <A>(
  parent: Command,
  world: World,
  description: string,
  below: string,
  listing: Listing<A>,
): Command =>
  listOptions(leaf(parent, 'list', description)).action((options) =>
    showList(world, options, listing, readOfTenants(below)),
  )

const ofUser = ['--user <id>', 'what this user owns'] as const

const addTenants = (program: Command, world: World): void => {
  const tenants = group(program, 'tenants', 'list tenants, or show one with all that belongs to it')
  leaf(tenants, 'list', 'all tenants')
    .option('--limit <n>', shownText, wholeNumber)
    .action((options) =>
      showList(
        world,
        options,
        { one: 'tenant', many: 'tenants', columns: tenantColumns },
        readTenants,
      ),
    )
  leaf(
    tenants,
    'show <tenant>',
    'one tenant: users, accounts, keys, tokens, desks, limits and challenges',
  )
    .addHelpText('after', examples('tenants show acme', 'tenants show acme --json'))
    .action((id, options) => showTenant(world, id, options))
  const users = group(program, 'users', 'list users')
  addList<User>(users, world, 'users with their plans', 'users', {
    one: 'user',
    many: 'users',
    columns: userColumns,
  })
}

const addAccounts = (program: Command, world: World): void => {
  const accounts = group(program, 'accounts', 'list, link and unlink accounts')
  addList<Account>(accounts, world, 'linked accounts as they are stored', 'accounts', {
    one: 'account',
    many: 'accounts',
    columns: accountColumns,
  }).option(...ofUser)
  leaf(accounts, 'link', 'link an account to a user')
    .requiredOption('--user <id>', 'whose account it is')
    .requiredOption('--name <text>', 'its label')
    .requiredOption('--number <login>', 'its login at the broker')
    .requiredOption('--server <name>', "the broker's server")
    .requiredOption('--currency <code>', 'its currency, such as USD')
    .option('--platform <code>', 'mt4, mt5, or paper for the demo paper book', 'mt5')
    .option('--purpose <purpose>', 'trading, introducing_broker or trade_copier', 'trading')
    .option('--demo', 'it is a demo account; a broker that says otherwise wins')
    .option('--broker <name>', "the broker's name")
    .option(
      '--provider-account <id>',
      'its id at the connectivity provider, without which it cannot be read',
    )
    .option('--region <region>', "the provider's region; asked for when it is left out")
    .option('--id <uuid>', 'its id here; made when it is left out')
    .addHelpText(
      'after',
      examples(
        'accounts link --user u-1 --name Main --number 5012345 --server Example-Demo --currency USD --demo --provider-account 9f0e…',
      ),
    )
    .action((options) => linkAccount(world, options))
  leaf(
    accounts,
    'unlink <account>',
    'remove an account, with its limits, challenges and balance history; orders stay',
  ).action((id, options) => unlinkAccount(world, id, options))
}

const addCredentials = (program: Command, world: World): void => {
  const keys = group(program, 'keys', 'list, make and revoke API keys')
  addList<ApiKey>(
    keys,
    world,
    'API keys by their ids; a key itself is shown when it is made, and never again',
    'api-keys',
    {
      one: 'key',
      many: 'keys',
      columns: keyColumns,
    },
  ).option(...ofUser)
  leaf(keys, 'make', 'make an API key and show it, this once')
    .requiredOption('--user <id>', 'whose key it is')
    .option(
      '--scope <scopes>',
      'such as trading:read; several with commas or by repeating it (accounts:read,market-data:read)',
      several,
    )
    .option(
      '--allow <networks>',
      'addresses or CIDRs from which it may be used; everywhere when left out',
      several,
    )
    .option(
      '--expires <time>',
      'from when it is refused, such as 2027-01-31 or 2027-01-31T09:30:00Z; never when left out',
    )
    .option('--name <text>', 'a label')
    .option('--id <id>', 'its id; made when it is left out')
    .addHelpText(
      'after',
      examples(
        'keys make --user u-1 --scope trading:read,history:read --allow 10.0.0.0/8 --expires 2027-01-31',
      ),
    )
    .action((options) => makeKey(world, options))
  leaf(keys, 'revoke <key>', 'revoke an API key by its id; it stays in the list').action(
    (id, options) => revokeKey(world, id, options),
  )
  const tokens = group(program, 'tokens', 'list and revoke stored access tokens')
  addList<AccessToken>(tokens, world, 'stored access tokens by their ids', 'access-tokens', {
    one: 'token',
    many: 'tokens',
    columns: tokenColumns,
  }).option(...ofUser)
  leaf(tokens, 'revoke <token>', 'revoke an access token by its id; it stays in the list').action(
    (id, options) => revokeToken(world, id, options),
  )
}

const deskLimitOptions = (command: Command): Command =>
  command
    .option('--max-open-lots <lots>', 'open lots together; none unsets', limitOrNone)
    .option('--max-open-positions <n>', 'open positions together; none unsets', limitOrNone)
    .option(
      '--symbols <symbols>',
      'symbols that may be traded, with commas between them; none allows all',
      symbolsOrNone,
    )

const addRules = (program: Command, world: World): void => {
  const limits = group(program, 'limits', "set and clear a trader's limits on an account")
  deskLimitOptions(
    leaf(limits, 'set <account>', 'set limits; those that are not named stay as they are'),
  )
    .option('--max-lots-per-order <lots>', 'lots of one order; none unsets', limitOrNone)
    .option(
      '--approval-above <lots>',
      'orders above it are refused for want of an approval; none unsets',
      limitOrNone,
    )
    .addHelpText(
      'after',
      examples(
        'limits set 0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c --max-lots-per-order 5 --symbols EURUSD,GBPUSD',
      ),
    )
    .action((id, options) => setTraderLimits(world, id, options))
  leaf(limits, 'clear <account>', 'take all limits of the trader from an account').action(
    (id, options) => clearTraderLimits(world, id, options),
  )

  const desks = group(program, 'desks', 'list desks, and set their limits and accounts')
  addList<Desk>(desks, world, 'desks with their limits and accounts', 'desks', {
    one: 'desk',
    many: 'desks',
    columns: deskColumns,
  })
  deskLimitOptions(
    leaf(desks, 'set <desk>', 'make a desk or set its limits; what is not named stays as it is'),
  )
    .option('--tenant <id>', 'whose desk it is; a new desk needs it')
    .option('--account <accounts>', 'all of its accounts, with commas or by repeating it', several)
    .addHelpText(
      'after',
      examples(
        'desks set d-1 --tenant acme --account 0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c --max-open-lots 50',
      ),
    )
    .action((id, options) => setDesk(world, id, options))
  leaf(desks, 'remove <desk>', 'remove a desk; its accounts stay').action((id, options) =>
    removeDesk(world, id, options),
  )

  const challenges = group(
    program,
    'challenges',
    'set and remove challenges of an account; the newest counts',
  )
  leaf(challenges, 'set <account>', 'begin a challenge or change its status')
    .requiredOption(
      '--started <time>',
      'when it began, which tells it from the others of the account',
    )
    .addOption(
      new Option('--status <status>', 'a failed one locks new orders')
        .choices(['active', 'passed', 'failed'])
        .makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      examples(
        'challenges set 0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c --started 2026-10-01T00:00:00Z --status failed',
      ),
    )
    .action((id, options) => setChallenge(world, id, options))
  leaf(challenges, 'remove <account>', 'remove a challenge')
    .requiredOption('--started <time>', 'when it began')
    .action((id, options) => removeChallenge(world, id, options))
}

const addOrders = (program: Command, world: World): void => {
  const orders = group(program, 'orders', 'list orders under way, and end one by hand')
  listOptions(leaf(orders, 'list', 'orders under way of all tenants, oldest first'))
    .option(
      '--stuck',
      'only orders whose outcome is still unknown ten minutes after they were made',
    )
    .action((options) =>
      showList(
        world,
        options,
        { one: 'order', many: 'orders under way', columns: orderColumns },
        readOrders,
      ),
    )
  leaf(orders, 'show <order>', 'one order, under way or ended').action((id, options) =>
    showOrder(world, id, options),
  )
  leaf(
    orders,
    'finish <order>',
    'end a pending order by hand, after you have seen its outcome in the records of the broker',
  )
    .addOption(
      new Option('--as <outcome>', 'how it ended at the broker')
        .choices(['filled', 'rejected'])
        .makeOptionMandatory(),
    )
    .requiredOption(
      '--reason <text>',
      'why you end it; kept with the order, and the message of a rejection, which its user sees',
    )
    .option('--price <price>', 'the price of the execution', numberAboveZero)
    .option(
      '--volume <lots>',
      "the lots that were executed; fewer than the order's make it partially filled",
      numberAboveZero,
    )
    .option('--position <number>', "the broker's number of the position")
    .option('--by <name>', 'who you are; operator when left out')
    .addHelpText(
      'after',
      examples(
        'orders finish ord_… --as filled --price 1.0842 --volume 0.1 --position 90001 --reason "seen in the terminal" --by kim',
        'orders finish ord_… --as rejected --reason "the broker has no such order"',
      ),
    )
    .action((id, options) => finishOrder(world, id, options))
}

const addService = (program: Command, world: World): void => {
  leaf(
    program,
    'doctor',
    "look at the database, its tables, Redis, the clocks, the sealed secrets, stuck orders and each tenant's provider token",
  )
    .option('--tenant <id>', 'the provider token of this tenant alone')
    .addHelpText(
      'after',
      '\nEvery line is ok, warn or fail, and says what to do where there is something. One that fails makes the exit code 1.',
    )
    .action((options) => examine(world, options))
  const secrets = group(program, 'secrets', 'seal stored secrets under a new key')
  leaf(
    secrets,
    'rotate',
    'seal all stored secrets under SECRETS_KEY, after it was changed and the old one moved to SECRETS_KEY_PREVIOUS',
  )
    .addHelpText(
      'after',
      '\ndocs/operations.md says how a key is changed, on one instance and on several.',
    )
    .action((options) => rotateSecrets(world, options))
}
