// What sends requests as fast as they are answered: wrk where it is installed, else autocannon; a
// separate process either way.
import { join } from 'node:path'
import { repositoryRoot } from '../measured-service.ts'
import { runProgram } from '../processes.ts'

export interface Load {
  readonly perSecond: number
  readonly p99Ms: number
}

export interface Generator {
  readonly name: string
  /** Fails unless every request is answered with a status below 400. */
  readonly load: (url: string, seconds: number) => Promise<Load>
}

interface Settings {
  readonly connections: number
  /** A file with one API key per line, used in turn. */
  readonly keysFile: string
  readonly core: number | undefined
}

const wrkScript = join(repositoryRoot, 'tooling/bench/src/http/wrk.lua')
const autocannonLoad = join(import.meta.dirname, 'autocannon-load.js')

export const findGenerator = async ({
  connections,
  keysFile,
  core,
}: Settings): Promise<Generator> => {
  const hasWrk = await isInstalled('wrk')
  const run = (url: string, seconds: number): Promise<string> =>
    hasWrk
      ? runProgram(
          'wrk',
          [
            '-t1',
            `-c${connections}`,
            `-d${seconds}s`,
            '--timeout',
            '30s',
            '-s',
            wrkScript,
            url,
            '--',
            keysFile,
          ],
          core,
        )
      : runProgram(
          process.execPath,
          [autocannonLoad, url, String(connections), String(seconds), keysFile],
          core,
        )
  return {
    name: hasWrk ? 'wrk' : 'autocannon',
    load: async (url, seconds) => {
      const { failed, ...load } = JSON.parse(
        (await run(url, seconds)).trim().split('\n').at(-1) ?? '',
      ) as Load & { failed: number }
      if (failed > 0)
        throw new Error(
          `${failed} requests to ${url} failed or were refused; the load needs every one answered with 200`,
        )
      return load
    },
  }
}

/**
 * wrk ends with 1 when it prints its version; only a program that cannot be started has no exit
 * code of its own.
 */
const isInstalled = (program: string): Promise<boolean> =>
  runProgram(program, ['--version']).then(
    () => true,
    (error: { readonly code?: unknown }) => error.code !== 'ENOENT',
  )
