// Makes an empty database with all of its tables before the first test, for every test service to
// start from a copy of it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { spawnService } from './child-service.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly databaseTemplate: string
  }
}

/** In a process of its own, because this one does not read the workspace's sources. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-template-'))
  // Not the demo, which would be in the database then; the provider is asked for nothing.
  const service = spawnService({
    PORT: '0',
    OPERATOR_PORT: '0',
    BROKER: 'metaapi',
    DATA_DIR: folder,
  })
  await service.listening
  await service.stop()
  project.provide('databaseTemplate', join(folder, 'postgres'))
  return () => rm(folder, { recursive: true, force: true })
}
