// An installed Chromium, for what measures or shows the console.
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** @throws where none is installed */
export const startChromium = async (): Promise<Browser> => {
  const executablePath = process.env['CHROMIUM_PATH'] ?? paths.find((path) => existsSync(path))
  if (executablePath === undefined)
    throw new Error(
      "no Chromium is installed: install Debian's package chromium, or set CHROMIUM_PATH",
    )
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
