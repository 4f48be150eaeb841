// What a command runs with: its argument and options, the API, and how it prints.
import { styleText } from 'node:util'
import type { Api } from './api.ts'
import { withIssues } from './failure.ts'

export interface CommandContext {
  readonly api: Api
  /** The argument behind the command's name; empty where it has none. */
  readonly argument: string
  /** The values of its options, by the field that each option sets. */
  readonly values: Values
  /** The option that sets a field, as it is typed; of `id` the argument where no option does. */
  readonly flagOf: (field: string) => string | undefined
  readonly isJson: boolean
  /** Where relative file names begin. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: Output
}

export interface Output {
  readonly write: (text: string) => unknown
}

export type Values = Readonly<Record<string, unknown>>

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

/** Coloured on a terminal, unless NO_COLOR is set. */
export const styled = (style: Style, text: string): string =>
  styleText(style, text, { stream: process.stdout })

/** Prints nothing with --json. */
export const printForPeople = (
  { isJson, stdout }: CommandContext,
  ...lines: readonly string[]
): void => {
  if (!isJson) stdout.write(lines.map((line) => `${line}\n`).join(''))
}

/** Prints with --json alone. */
export const printForPrograms = ({ isJson, stdout }: CommandContext, value: unknown): void => {
  if (isJson) stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Runs a request of option values; its issues name the options instead of their fields. */
export const namedByFlags = <A>(context: CommandContext, send: () => Promise<A>): Promise<A> =>
  withIssues((issue) => {
    const [, field = ''] = /^(?:\w+\[0\]\.)?(\w+)/.exec(issue.path) ?? []
    const flag = context.flagOf(field)
    return flag === undefined
      ? issue
      : { path: flag, message: issue.message.replace(issue.path, flag) }
  }, send)
