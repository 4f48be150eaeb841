// The operator's document from a file or from standard input, in JSON or YAML, and where in it a
// path of the service's faults stands.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isNode, LineCounter, parseDocument } from 'yaml'
import { CommandFailure } from './failure.ts'
import type { World } from './world.ts'

export interface ReadDocument {
  readonly document: unknown
  /**
   * The line on which the record or field of a path begins; of the nearest thing around it where it
   * is not there.
   */
  readonly lineOf: (path: string) => number | undefined
}

export const readDocument = async (world: World, file: string): Promise<ReadDocument> => {
  const text = await readText(world, file)
  const name = file === '-' ? 'standard input' : file
  const lines = new LineCounter()
  // JSON is YAML. Dates stay texts, and a key that stands twice is a fault.
  const parsed = parseDocument(text, { lineCounter: lines })
  const [fault] = parsed.errors
  if (fault !== undefined) {
    const message =
      fault.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ??
      'it cannot be read'
    throw new CommandFailure(`${name} is neither JSON nor YAML:`, {
      code: 'UNREADABLE_DOCUMENT',
      faults: [
        { path: `column ${fault.linePos?.[0].col ?? 1}`, message, line: fault.linePos?.[0].line },
      ],
      advice: ['Nothing was sent.'],
    })
  }
  const document: unknown = parsed.toJS()
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new CommandFailure(
      `${name} holds no document: it takes an object with sections such as tenants, users and accounts.`,
      {
        code: 'UNREADABLE_DOCUMENT',
        advice: ['Nothing was sent. apps/cli/README.md shows a document.'],
      },
    )
  return { document, lineOf: (path) => lineOf(parsed, lines, stepsOf(path)) }
}

const readText = async (world: World, file: string): Promise<string> => {
  if (file === '-') return world.readStandardInput()
  try {
    return await readFile(resolve(world.folder, file), 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new CommandFailure(`${file} cannot be read (${reason}).`, {
      code: 'UNREADABLE_DOCUMENT',
      advice: [`Relative names begin in ${world.folder}; - reads standard input.`],
    })
  }
}

/** `accounts[0].limits.maxOpenLots` as steps. */
const stepsOf = (path: string): readonly (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([text, index]) =>
    index === undefined ? text : Number(index),
  )

const lineOf = (
  parsed: ReturnType<typeof parseDocument>,
  lines: LineCounter,
  steps: readonly (string | number)[],
): number | undefined => {
  for (let length = steps.length; length > 0; length -= 1) {
    const node: unknown = parsed.getIn(steps.slice(0, length), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return undefined
}
