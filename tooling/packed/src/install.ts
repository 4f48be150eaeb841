// A folder with nothing of this workspace in it, where commands are run as somebody outside would
// run them.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { pnpmCommand, root } from './pack.ts'
import { startRegistry } from './registry.ts'

const run = promisify(execFile)

/**
 * Runs the lines of a README's block in the folder, `../../` being the repository's root; what the
 * last one prints.
 * @param dependencies folders of all packages that the lines may fetch
 */
export const runLines = async (
  lines: readonly string[],
  folder: string,
  dependencies: readonly string[] = [],
): Promise<string> => {
  const registry = await startRegistry(dependencies)
  try {
    const environment = await outsideEnvironment(folder, registry.url)
    let printed = ''
    for (const line of lines)
      printed = await runLine(line.replaceAll('../../', `${root}/`), {
        cwd: folder,
        env: environment,
      })
    return printed
  } finally {
    await registry.close()
  }
}

/** Far longer than any line takes. */
const lineMs = 120_000

// On a busy machine pnpm's install has been seen to wait without end, with nothing left that it
// could wait for: such a line is ended and run once more.
const runLine = async (
  line: string,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> => {
  const once = async (): Promise<string> => {
    const running = run('sh', ['-ec', `exec ${line}`], {
      ...options,
      timeout: lineMs,
      killSignal: 'SIGKILL',
    })
    running.child.stdin?.end()
    return (await running).stdout
  }
  return once().catch((error: unknown) => {
    if ((error as { killed?: boolean }).killed === true) return once()
    throw error
  })
}

/**
 * Rejects where the file, or the types of a package that it uses, do not stand up to the strictest
 * reading.
 */
export const compile = async (file: string, folder: string): Promise<void> => {
  const strictest = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--skipLibCheck',
    'false',
  ]
  // As a page has it: nothing of Node.
  const platform = [
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2023,dom',
    '--types',
    '',
  ]
  await run(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), ...strictest, ...platform, file],
    { cwd: folder },
  )
}

// The same pnpm and Node as everywhere here, and nothing else that a machine may have: neither its
// packages nor its network.
const outsideEnvironment = async (folder: string, registry: string): Promise<NodeJS.ProcessEnv> => {
  const [command, ...first] = pnpmCommand()
  const programs = join(folder, '.programs')
  await mkdir(programs)
  await writeProgram(join(programs, 'node'), [process.execPath])
  if (first.length > 0) await writeProgram(join(programs, 'pnpm'), [command, ...first])
  const inherited = Object.entries(process.env).filter(
    ([name]) => name !== 'CI' && !/^p?npm_/.test(name),
  )
  return {
    ...Object.fromEntries(inherited),
    PATH: [programs, process.env['PATH']].join(delimiter),
    npm_config_registry: registry,
    npm_config_store_dir: join(folder, '.store'),
    npm_config_cache_dir: join(folder, '.cache'),
  }
}

const writeProgram = async (path: string, command: readonly string[]): Promise<void> => {
  await writeFile(path, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  await chmod(path, 0o755)
}

/** The name of every package that lies under the folder, however deep. */
export const installedPackages = (folder: string): readonly string[] =>
  [...new Set(packagesIn(join(folder, 'node_modules')))].toSorted()

const packagesIn = (modules: string): readonly string[] => {
  if (!existsSync(modules)) return []
  const folders = readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      if (name === '.pnpm') return readdirSync(join(modules, name)).map((one) => join(name, one))
      if (name.startsWith('@'))
        return readdirSync(join(modules, name)).map((one) => join(name, one))
      return [name]
    })
  return folders.flatMap((name) => [
    ...nameOf(join(modules, name)),
    ...packagesIn(join(modules, name, 'node_modules')),
  ])
}

const nameOf = (folder: string): readonly string[] => {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return []
  const manifest: { name: string } = JSON.parse(readFileSync(file, 'utf8'))
  return [manifest.name]
}
