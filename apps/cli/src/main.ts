// The process: its words, its environment and its streams, handed to `run`.
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { run } from './run.ts'
import type { World } from './world.ts'

const { env, stdin, stdout, stderr } = process

const world: World = {
  environment: env,
  // pnpm runs scripts in the repository's root, and says here where it was called.
  folder: env['INIT_CWD'] ?? process.cwd(),
  // From `apps/cli/src` and from `apps/cli/dist` alike, the repository's root.
  defaultDataFolder: resolve(import.meta.dirname, '../../../.data'),
  readStandardInput: () => text(stdin),
  out: (line) => void stdout.write(line),
  err: (line) => void stderr.write(line),
  width: stdout.isTTY ? stdout.columns : null,
  hasColour: stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
}

// Whoever reads may have seen enough (`| head`).
stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1))

process.exitCode = await run(process.argv.slice(2), world)
