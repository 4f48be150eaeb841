// Before the first test: builds the console, and makes an empty database with all of its tables,
// for every test service to start from a copy of it.
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    readonly databaseTemplate: string
  }
}

const pageBuilder = resolve(import.meta.dirname, '../../../../packages/console/build-page.ts')
const program = resolve(import.meta.dirname, '../../src/main.ts')

/** In processes of their own, because this one does not read the workspace's sources. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  await promisify(execFile)(process.execPath, [pageBuilder])
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-template-'))
  const service = spawn(process.execPath, ['--conditions=@tradeport/source', program], {
    // Not the demo, which would be in the database then; the provider is asked for nothing.
    env: { PORT: '0', OPERATOR_PORT: '0', BROKER: 'metaapi', DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // Until the process ends.
  for await (const line of createInterface(service.stdout))
    if (line.includes('"event":"listening"')) service.kill()
  project.provide('databaseTemplate', join(folder, 'postgres'))
  return () => rm(folder, { recursive: true, force: true })
}
