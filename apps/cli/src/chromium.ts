// An installed Chromium without a window, driven over its DevTools protocol. It talks over a pipe and
// not over a port, which everybody on the machine could use.
import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { codeOf, CommandFailure } from './failure.ts'

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome.exe',
  'msedge.exe',
]
const places = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  String.raw`C:\Program Files\Google\Chrome\Application\chrome.exe`,
  String.raw`C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`,
]

const advice = [
  'Install one: apt-get install chromium (Debian), dnf install chromium (Fedora), apk add chromium (Alpine), brew install --cask google-chrome (macOS).',
  'Or name the program of a Chromium, Chrome or Edge with CHROMIUM_PATH.',
]

/** The program: that of CHROMIUM_PATH, else the first in PATH or where installers put it. */
export const findChromium = async (env: NodeJS.ProcessEnv): Promise<string> => {
  const named = env['CHROMIUM_PATH'] ?? ''
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const candidates =
    named === ''
      ? [...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...places]
      : [named]
  for (const path of candidates)
    try {
      await access(path, constants.X_OK)
      return path
    } catch (error) {
      if (named !== '')
        throw new CommandFailure(
          'NO_CHROMIUM',
          `CHROMIUM_PATH must be the program of a Chromium; ${named} cannot be run (${codeOf(error)}).`,
          { advice },
        )
    }
  throw new CommandFailure('NO_CHROMIUM', 'There is no Chromium, which makes the PDF.', { advice })
}

/** One page of a browser. */
export interface ChromiumPage {
  /** Calls a method of the DevTools protocol. */
  readonly call: <A>(method: string, parameters?: object) => Promise<A>
  /** The value of an expression in the page. */
  readonly evaluate: <A>(expression: string) => Promise<A>
}

interface Message {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** Opens an empty page, uses it, and ends the browser, also when the command is interrupted. */
export const withChromium = async <A>(
  path: string,
  env: NodeJS.ProcessEnv,
  use: (page: ChromiumPage) => Promise<A>,
): Promise<A> => {
  const profile = await mkdtemp(join(tmpdir(), 'tradeport-report-'))
  const child = spawn(
    path,
    [
      '--headless',
      '--remote-debugging-pipe',
      '--incognito',
      `--user-data-dir=${profile}`,
      '--no-first-run',
      '--disable-extensions',
      '--disable-dev-shm-usage',
      // Chromium refuses to start as root with its sandbox.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
    { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] },
  )
  const [, , errors, writable, readable] = child.stdio as [null, null, Readable, Writable, Readable]
  let said = ''
  errors.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)))
  // Its end is noticed by 'close'.
  writable.on('error', () => undefined)
  const end = (): boolean => child.kill('SIGKILL')
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, end)

  const waiting = new Map<number, PromiseWithResolvers<never>>()
  let ended: CommandFailure | undefined
  const closed = new Promise<void>((resolve) => {
    const fail = (reason: string): void => {
      ended ??= new CommandFailure('CHROMIUM_FAILED', `${path} ${reason}.`, {
        advice: said.trim() === '' ? [] : ['It said:', said.trim()],
      })
      for (const { reject } of waiting.values()) reject(ended)
      resolve()
    }
    child.on('error', (error) => fail(`cannot be started (${codeOf(error)})`))
    child.on('close', (code, signal) => fail(`ended by itself (${signal ?? code})`))
  })
  let unread = ''
  readable.setEncoding('utf8').on('data', (chunk: string) => {
    const texts = (unread + chunk).split('\0')
    unread = texts.pop() ?? ''
    for (const text of texts) {
      const { id = 0, result, error } = JSON.parse(text) as Message
      const call = waiting.get(id)
      waiting.delete(id)
      if (error === undefined) call?.resolve(result as never)
      else
        call?.reject(new CommandFailure('CHROMIUM_FAILED', `${path} answered: ${error.message}.`))
    }
  })
  let lastId = 0
  const callIn =
    (sessionId?: string) =>
    <B>(method: string, params: object = {}): Promise<B> => {
      if (ended !== undefined) return Promise.reject(ended)
      const reply = Promise.withResolvers<never>()
      lastId += 1
      waiting.set(lastId, reply)
      writable.write(`${JSON.stringify({ id: lastId, method, params, sessionId })}\0`)
      return reply.promise
    }

  try {
    const browser = callIn()
    const { targetId } = await browser<{ targetId: string }>('Target.createTarget', {
      url: 'about:blank',
    })
    const { sessionId } = await browser<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    })
    const call = callIn(sessionId)
    return await use({
      call,
      evaluate: async (expression) =>
        (
          await call<{ result: { value: never } }>('Runtime.evaluate', {
            expression,
            returnByValue: true,
          })
        ).result.value,
    })
  } finally {
    end()
    await closed
    for (const signal of signals) process.off(signal, end)
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}
