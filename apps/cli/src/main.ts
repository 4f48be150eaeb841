// The command line: reads the words of a call, runs the command, and ends with its exit code.
import { Command, CommanderError, Option } from 'commander'
import { openApi } from './api.ts'
import { commands, type Options } from './commands.ts'
import type { CommandContext, Output } from './context.ts'
import { CommandFailure, describeFailure, usageFailure } from './failure.ts'

const connectionHelp = `
Where and with which token:
  --url or OPERATOR_URL             the operator API, http://127.0.0.1:3001 when neither is given
  --token-file or OPERATOR_TOKEN    its token; without both, the one that the service keeps in DATA_DIR
  --api-url or API_URL              for report: the API for users, http://127.0.0.1:3000 when neither is given

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, a file that cannot be read included.`

const groupHelp: Readonly<Record<string, string>> = {
  tenants: 'list, show and create tenants',
  users: 'list and create users',
  accounts: 'list, link and unlink accounts',
  keys: 'list, make and revoke API keys',
  tokens: 'list and revoke stored access tokens',
  desks: 'list desks',
  orders: 'list orders under way, and end one by hand',
  secrets: 'encrypt stored secrets with a new key',
}

const optionsOf = (options: Options): readonly (readonly [string, Option])[] =>
  Object.entries(options).map(([flags, [field, help, read]]) => {
    const option = new Option(flags, help)
    if (typeof read === 'function')
      option.argParser<unknown>(read as (text: string, before: unknown) => unknown)
    else if (read !== undefined) option.choices(read)
    return [field, option]
  })

interface Call extends Pick<CommandContext, 'env' | 'stdin' | 'stdout'> {
  readonly argv: readonly string[]
  readonly stderr: Output
}

/** Returns the exit code. */
export const runOperator = async ({ argv, env, stdin, stdout, stderr }: Call): Promise<number> => {
  // pnpm runs scripts in the repository's root, and says here where it was called.
  const folder = env['INIT_CWD'] ?? process.cwd()
  const program = new Command('operator')
    .description(
      "The operator's command line of Tradeport, over the operator API of a running service.",
    )
    .usage('<command> [options]')
    .addHelpText('after', connectionHelp)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // Printed below, like other failures.
      outputError: () => undefined,
    })

  const groups = new Map<string, Command>()
  const groupOf = (name: string): Command => {
    const group = groups.get(name) ?? program.command(name).description(groupHelp[name] ?? '')
    groups.set(name, group)
    return group
  }

  for (const { usage, help, required = {}, options = {}, examples = [], run } of commands) {
    const words = usage.split(' ')
    const isInGroup = groupHelp[words[0] ?? ''] !== undefined
    const parent = isInGroup ? groupOf(words.shift() ?? '') : program
    const command = parent
      .command(words.join(' '))
      .description(help)
      .option(
        '--json',
        'for programs: data as JSON on standard output, an error as JSON on standard error',
      )
      .option('--url <url>', 'where the operator API is (OPERATOR_URL)')
      .option('--token-file <file>', 'a file that holds the token (OPERATOR_TOKEN)')
    if (examples.length > 0)
      command.addHelpText(
        'after',
        `\nExamples:\n${examples.map((line) => `  pnpm operator ${line}`).join('\n')}`,
      )
    const requiredFields = optionsOf(required)
    const fields = [...requiredFields, ...optionsOf(options)]
    for (const [, option] of fields) command.addOption(option)
    command.action(async () => {
      const given = command.opts<Record<string, never>>()
      // Not by commander itself, which would report a misspelt option as the missing one.
      for (const [, option] of requiredFields)
        if (given[option.attributeName()] === undefined)
          command.error(`error: required option '${option.flags}' not specified`)
      await run({
        api: await openApi({ ...given, env, folder }),
        argument: command.args[0] ?? '',
        values: Object.fromEntries(
          fields.map(([field, option]) => [field, given[option.attributeName()]]),
        ),
        flagOf: (field) =>
          fields.find(([name]) => name === field)?.[1].long ??
          (field === 'id' ? words.at(-1) : undefined),
        isJson: given['json'] === true,
        folder,
        env,
        stdin,
        stdout,
      })
    })
  }

  try {
    await program.parseAsync(argv)
    return 0
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    // Its help is printed where a command is missing.
    if (error instanceof CommanderError && error.code === 'commander.help') return 2
    const failure = failureOf(error)
    stderr.write(`${describeFailure(failure, argv.includes('--json'))}\n`)
    return failure.fields.exit ?? 1
  }
}

const failureOf = (error: unknown): CommandFailure => {
  if (error instanceof CommandFailure) return error
  if (error instanceof CommanderError)
    return usageFailure(error.message, ['Run with --help for usage.'])
  return new CommandFailure('INTERNAL', 'The command failed unexpectedly.', {
    advice: [String(error)],
  })
}

if (import.meta.main) {
  // Whoever reads may have seen enough (`| head`). The command goes on, since its exit code is still
  // of use.
  process.stdout.on('error', (error) => {
    if (!('code' in error && error.code === 'EPIPE')) process.exit(1)
  })

  process.exitCode = await runOperator(process)
}
