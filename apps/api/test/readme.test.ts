// What the README shows a newcomer, as it stands there: every line of shell against the demo, and every reply of the same shape as the one that is shown.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { spawnService } from './support/child-service.ts'
import type { ChildService } from './support/child-service.ts'
import type { Json } from './support/running-service.ts'

const root = resolve(import.meta.dirname, '../../..')
const readme = await readFile(join(root, 'README.md'), 'utf8')
const shownAddress = 'http://127.0.0.1:3000'

interface Example {
  readonly commands: string
  /** What is shown as the reply; undefined where nothing is. */
  readonly shown?: Json
}

const between = (from: string, to: string): string => readme.slice(readme.indexOf(from), readme.indexOf(to))

const examples: readonly Example[] = [
  ...between('## Try it', '## Run it').matchAll(/^```sh\n(.*?)^```$(?:\n\n```json\n(.*?)\n```$)?/gms),
].map(([, commands = '', shown]) => (shown === undefined ? { commands } : { commands, shown: JSON.parse(shown) }))

/** The two commands that install, build and go on by themselves, which the run of all tests and .ci/run carry out. */
const isWholeRun = ({ commands }: Example): boolean => /^npx --yes pnpm@10\.34\.9 (?:start|test)\n$/.test(commands)

const run = promisify(execFile)
let folder = ''
let service: ChildService
let replies: readonly string[] = []
let program: (code: string) => Promise<string> = () => Promise.reject(new Error('the demo has not started'))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-readme-'))
  service = spawnService({ PORT: '0', OPERATOR_PORT: '0', DATA_DIR: join(folder, 'data') })
  const { api } = await service.listening
  // The welcome, which tells the key, comes after the line of the log.
  const key = await vi.waitUntil(() => /tp_live_[\w-]+(?=\n)/.exec(service.output())?.[0], { timeout: 60_000 })
  const lines = examples.filter((example) => !isWholeRun(example)).flatMap(({ commands }) => [commands, 'echo', 'echo "--- next ---"'])
  const script = lines.join('\n').replaceAll(shownAddress, api)
  const environment = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, KEY: key }
  const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: folder, env: environment })
  replies = stdout.split('--- next ---\n').slice(0, -1)
  program = async (code) => {
    await mkdir(join(folder, 'node_modules/@tradeport'), { recursive: true })
    await symlink(join(root, 'packages/client'), join(folder, 'node_modules/@tradeport/client'))
    await writeFile(join(folder, 'program.mjs'), code.replaceAll(shownAddress, api))
    return (await run(process.execPath, ['program.mjs'], { cwd: folder, env: environment })).stdout
  }
})
afterAll(async () => {
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

const shapeOf = (value: Json): Json => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner as Json)]))
}

const shellExamples = examples.filter((example) => !isWholeRun(example))

describe('the README', () => {
  it('shows the two commands and examples', () => {
    expect(examples.filter(isWholeRun)).toHaveLength(2)
    expect(shellExamples.length).toBeGreaterThan(7)
  })

  it.each(shellExamples.map(({ commands, shown }, index) => ({ commands, shown, index })))(
    'shows what comes of $commands',
    ({ commands, shown, index }) => {
      if (commands.includes(' -D - ')) return expect(replies[index]).toMatch(/^X-RateLimit-Remaining: \d+\r$/m)
      // Several replies of one example stand in one line.
      const parsed: readonly Json[] = (replies[index] ?? '')
        .trim()
        .split(/(?<=\})(?=\{"success":)/)
        .filter((text) => text !== '')
        .map((text) => JSON.parse(text))
      expect(parsed).not.toHaveLength(0)
      for (const { success } of parsed) expect(success).toBe(shown?.success ?? true)
      if (shown !== undefined) expect(shapeOf(parsed[0])).toEqual(shapeOf(shown))
    },
  )

  it('shows a program with the client that runs', async () => {
    const [, code = ''] = /^```js\n(import \{ createClient .*?)^```$/ms.exec(readme) ?? []
    expect((await program(code)).split('\n')[0]).toMatch(/^[A-Z0-9]+ (?:0|-\d+(?:\.\d+)?)$/)
  })
})
