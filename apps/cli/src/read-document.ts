// The operator's document from a file or from standard input, in JSON or YAML, and the line of each
// of its places.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { isNode, LineCounter, parseDocument, type Document } from 'yaml'
import type { CommandContext } from './context.ts'
import { codeOf, CommandFailure, type Issue } from './failure.ts'

const unreadable = (message: string, advice: string, issues?: readonly Issue[]): CommandFailure =>
  new CommandFailure('UNREADABLE_DOCUMENT', message, { exit: 2, advice: [advice], issues })

/** The text of a file, or of standard input for `-`. */
export const readInput = (
  file: string,
  { folder, stdin }: Pick<CommandContext, 'folder' | 'stdin'>,
): Promise<string> =>
  file === '-'
    ? text(stdin)
    : readFile(resolve(folder, file), 'utf8').catch((error: unknown) => {
        throw unreadable(
          `${file} cannot be read (${codeOf(error)}).`,
          `Relative names begin in ${folder}; - reads standard input.`,
        )
      })

/**
 * What YAML can say and JSON cannot is an error: an alias within its own anchor, or a number such as
 * 1e999, which JSON would send as null.
 */
const jsonOf = (file: string, parsed: Document.Parsed): unknown => {
  try {
    const document: unknown = parsed.toJS()
    JSON.stringify(document, (name, value: unknown) => {
      if (typeof value === 'number' && !Number.isFinite(value))
        throw new RangeError(`${name} must be a number in the range of doubles; got ${value}`)
      return value
    })
    return document
  } catch (error) {
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw unreadable(
      `${file} cannot be read as a document: ${withoutText(message)}`,
      'Nothing was sent.',
    )
  }
}

/** What is not resolved may be a secret that needs quotes. */
const withoutText = (message: string): string =>
  message.replace(
    /^(Unresolved (?:alias|tag)\b[^:]*): .*$/,
    '$1; put quotes around a text that begins with * or !',
  )

export const readDocument = async (context: CommandContext) => {
  const file = context.argument
  const lineCounter = new LineCounter()
  // JSON is YAML. Dates stay texts; a repeated key and an unknown tag are issues.
  const parsed = parseDocument(await readInput(file, context), { lineCounter })
  const [problem] = [...parsed.errors, ...parsed.warnings]
  if (problem !== undefined) {
    const { line, col } = problem.linePos?.[0] ?? { line: 1, col: 1 }
    const message = (problem.message.split('\n')[0] ?? '').replace(
      / at line \d+, column \d+:?$/,
      '',
    )
    throw unreadable(`${file} cannot be read as JSON or YAML:`, 'Nothing was sent.', [
      { path: `column ${col}`, message: withoutText(message), line },
    ])
  }
  const document = jsonOf(file, parsed)
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw unreadable(
      `${file} must hold an object with sections such as tenants, users and accounts.`,
      'Nothing was sent. apps/cli/README.md shows a document.',
    )
  /** Of `accounts[0].limits.maxOpenLots`, or of the nearest place around it that exists. */
  const lineOf = (path: string): number | undefined => {
    const steps = [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) =>
      index === undefined ? name : Number(index),
    )
    for (; steps.length > 0; steps.pop()) {
      const node: unknown = parsed.getIn(steps, true)
      if (isNode(node) && node.range) return lineCounter.linePos(node.range[0]).line
    }
    return undefined
  }
  return { document, lineOf }
}
