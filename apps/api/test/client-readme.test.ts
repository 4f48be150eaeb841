// The examples of the client's README as one program, run by somebody who has the package and a key of a started service.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { linkClientUser } from './support/client-user.ts'
import { startTestService } from './support/running-service.ts'
import type { RunningService } from './support/running-service.ts'

const key = 'tp_live_only_for_automated_tests_of_a_reader'
const packageFolder = resolve(import.meta.dirname, '../../../packages/client')

let service: RunningService
let folder: string

beforeAll(async () => {
  service = await startTestService([{ id: 'reader', generate: { trades: 40, openPositions: 3 } }])
  await linkClientUser(service, key, 'reader')
  folder = await mkdtemp(join(tmpdir(), 'tradeport-reader-'))
  await mkdir(join(folder, 'node_modules/@tradeport'), { recursive: true })
  await symlink(packageFolder, join(folder, 'node_modules/@tradeport/client'))
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true })
})

it('runs, and prints what it says', async () => {
  const blocks = [...(await readFile(join(packageFolder, 'README.md'), 'utf8')).matchAll(/^```js\n(.*?)^```$/gms)]
  await writeFile(join(folder, 'program.mjs'), blocks.map(([, code = '']) => code).join('\n'))
  const environment = { ...process.env, TRADEPORT_URL: `${service.apiUrl}/api/v1`, TRADEPORT_KEY: key }
  const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder, env: environment })
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^Account 1: -?\d+(\.\d+)? USD$/),
    expect.stringMatching(/^40 trades, 0 left out, net -?\d+(\.\d+)?$/),
    expect.stringMatching(/^\d+ closed today, 3 open$/),
    expect.stringMatching(/^trades_\d{4}-\d\d-\d\d\.csv id,accountId,positionId,symbol,/),
    'pending',
    expect.stringMatching(/^filled 7e57acc0-0000-4000-8000-000000000001:\d+$/),
    expect.stringMatching(/^100 is not below the price of \d+\.\d+\.$/),
  ])
})
