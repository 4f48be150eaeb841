// The service and the simulated provider as processes of their own, and calls of the command line.
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { spawnProgram, spawnService } from '@tradeport/testkit/programs'
import { runOperator } from '../src/main.ts'

export const token = 'operator-token-for-tests'

export type StartedService = Awaited<ReturnType<typeof startService>>

/** A data folder with an empty database in it. */
export const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-cli-'))
  const template = process.env['TEST_EMPTY_FOLDER'] ?? ''
  await cp(template, join(folder, 'postgres'), { recursive: true })
  return folder
}

/** The demo, on free ports, unless the environment says otherwise. */
export const startService = async (env: NodeJS.ProcessEnv = {}) => {
  const folder = env['DATA_DIR'] ?? (await newFolder())
  const { listening, stop } = spawnService({
    PORT: '0',
    OPERATOR_PORT: '0',
    DATA_DIR: folder,
    ...env,
  })
  const { api, operator } = await listening
  return {
    folder,
    apiUrl: api,
    environment: { OPERATOR_URL: operator, OPERATOR_TOKEN: token },
    stop: async () => {
      await stop()
      if (env['DATA_DIR'] === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A simulated provider with one account, `demo`, for the token sandbox-token. */
export const startSandbox = async () => {
  const sandbox = spawnProgram('packages/sandbox-broker/src/bin.ts', process.env)
  return { ...sandbox, url: await sandbox.printed(/^url +(\S+)\n/) }
}

/** @param words as they are typed: an argument with a space in it stands in single quotes */
export const call = async (words: string, env: NodeJS.ProcessEnv, input = '') => {
  const typed = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  let [out, err] = ['', '']
  const exit = await runOperator({
    argv: ['node', 'operator', ...typed],
    env,
    stdin: Readable.from([input]),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { exit, out, err }
}
