// An installed Chromium without a window. Playwright talks to it over a pipe and not over a port,
// which everybody on the machine could use.
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Page } from 'playwright-core'
import { codeOf, CommandFailure } from './failure.ts'

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
  'microsoft-edge-stable',
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

/**
 * The program: that of CHROMIUM_PATH, else the first in PATH or where installers put it.
 * @param folder where a relative name begins
 */
export const findChromium = async (env: NodeJS.ProcessEnv, folder: string): Promise<string> => {
  const named = env['CHROMIUM_PATH'] ?? ''
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const candidates =
    named === ''
      ? [...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...places]
      : [resolve(folder, named)]
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

// What a browser needs of the environment; the rest may hold tokens and keys.
const allowedVariables = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|DISPLAY|WAYLAND_DISPLAY|TMPDIR|TEMP|TMP)$/,
  /^(LC|XDG|FONTCONFIG)_/,
  /^(DBUS_SESSION_BUS_ADDRESS|LD_LIBRARY_PATH)$/,
  // Windows, where names have no case.
  /^(SYSTEMROOT|SYSTEMDRIVE|WINDIR|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES.*)$/i,
]
const withoutSecrets = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && allowedVariables.some((pattern) => pattern.test(name))
        ? [[name, value]]
        : [],
    ),
  )

const signals = ['SIGINT', 'SIGTERM'] as const

/** Opens an empty page, uses it, and ends the browser, also when the command is interrupted. */
export const withPage = async <A>(
  executablePath: string,
  env: NodeJS.ProcessEnv,
  use: (page: Page) => Promise<A>,
): Promise<A> => {
  // Loaded here because no other command needs it.
  const { chromium } = await import('playwright-core')
  const browser = await chromium
    .launch({
      executablePath,
      env: withoutSecrets(env),
      // Chromium refuses to start as root with its sandbox.
      chromiumSandbox: process.getuid?.() !== 0,
      args: ['--disable-dev-shm-usage'],
      handleSIGINT: false,
      handleSIGTERM: false,
    })
    .catch((error: Error) => {
      // The rest is how Playwright called it.
      const lines = stripVTControlCharacters(error.message).matchAll(/\[err\] (.+)/g)
      const said = [...new Set([...lines].map(([, line = '']) => line))].slice(-3)
      throw new CommandFailure('CHROMIUM_FAILED', `${executablePath} cannot be started.`, {
        advice: said.length === 0 ? [] : ['It said last:', ...said],
      })
    })
  // What uses the page then fails, and can clean up.
  const close = (): void => void browser.close()
  for (const signal of signals) process.once(signal, close)
  try {
    return await use(await browser.newPage())
  } finally {
    for (const signal of signals) process.off(signal, close)
    await browser.close()
  }
}
