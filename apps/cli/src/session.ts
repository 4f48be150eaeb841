// One call of a command: the API it asks, and how it tells what it learnt, to people or to
// programs.
import { styleText } from 'node:util'
import { connect } from './connection.ts'
import type { ConnectionOptions, OperatorApi } from './connection.ts'
import { tableOf } from './table.ts'
import type { Columns } from './table.ts'
import type { World } from './world.ts'

export interface CommonOptions extends ConnectionOptions {
  readonly json?: boolean | undefined
}

export interface Session {
  readonly world: World
  readonly api: OperatorApi
  readonly isJson: boolean
  /** For people alone. */
  readonly say: (text: string) => void
  /** For programs alone. */
  readonly json: (value: unknown) => void
  readonly table: <Row>(columns: Columns<Row>, rows: readonly Row[]) => void
  readonly styled: Styled
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow'
export type Styled = (style: Style, text: string) => string

export const openSession = async (world: World, options: CommonOptions): Promise<Session> => {
  const isJson = options.json === true
  const say = (text: string): void => (isJson ? undefined : world.out(`${text}\n`))
  const styled: Styled = (style, text) =>
    world.hasColour ? styleText(style, text, { validateStream: false }) : text
  return {
    world,
    api: await connect(world, options),
    isJson,
    say,
    json: (value) => (isJson ? world.out(`${JSON.stringify(value, null, 2)}\n`) : undefined),
    table: (columns, rows) =>
      say(tableOf(columns, rows, { width: world.width, heading: (text) => styled('bold', text) })),
    styled,
  }
}
