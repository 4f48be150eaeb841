// The command, as a user starts it.
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

// The source itself: a build need not come first.
const BIN = fileURLToPath(new URL('../src/bin.ts', import.meta.url))

const NODE_ARGS = ['--experimental-strip-types', '--no-warnings', BIN]

const run = async (
  args: readonly string[],
): Promise<{
  readonly url: string
  readonly output: string
  readonly stop: () => Promise<number | null>
}> => {
  const child = spawn(process.execPath, [...NODE_ARGS, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const stop = () => {
    child.kill('SIGTERM')
    return exited
  }
  onTestFinished(async () => void (await stop()))
  let output = ''
  for await (const chunk of child.stdout) {
    output += String(chunk)
    if (output.includes('curl')) break
  }
  return { url: /http:\S+/.exec(output)?.[0] ?? '', output, stop }
}

it('the command prints where it listens, serves histories, and stops on SIGTERM', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'history.json')
  await writeFile(
    file,
    JSON.stringify({
      platform: 'mt4',
      currency: 'EUR',
      deals: [{ id: '1', type: 'DEAL_TYPE_BALANCE', profit: 5, time: '2026-01-01T00:00:00.000Z' }],
    }),
  )
  const { url, output, stop } = await run([
    '--account',
    'one',
    '--account',
    'two',
    '--history',
    file,
    '--token',
    'secret',
  ])
  expect(output).toContain('token    secret')
  expect(output).toContain('accounts one two')
  const read = async (id: string) =>
    (
      await fetch(`${url}/users/current/accounts/${id}/account-information`, {
        headers: { 'auth-token': 'secret' },
      })
    ).json()
  expect(await read('one')).toMatchObject({ platform: 'mt4', currency: 'EUR', balance: 5 })
  expect(await read('two')).toMatchObject({ platform: 'mt5', currency: 'USD' })
  expect(await stop()).toBe(0)
})

it('the command prints help, and names a wrong option', async () => {
  const node = promisify(execFile)
  expect((await node(process.execPath, [...NODE_ARGS, '--help'])).stdout).toContain(
    '--history <file>',
  )
  await expect(node(process.execPath, [...NODE_ARGS, '--port', 'four'])).rejects.toMatchObject({
    code: 1,
    stderr: '--port must be a whole number; got four\n',
  })
})
