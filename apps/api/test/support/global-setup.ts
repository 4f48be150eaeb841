// Before the first test: builds the console.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const pageBuilder = resolve(import.meta.dirname, '../../../../packages/console/build-page.ts')

/** In a process of its own, because this one does not read the workspace's sources. */
export const setup = async () => {
  await promisify(execFile)(process.execPath, [pageBuilder])
}
