// An installed Chromium, for what measures or shows the console.
import { chromium } from 'playwright-core'

/** @throws where none is at CHROMIUM_PATH, or where Debian's package chromium puts it */
export const startChromium = () =>
  chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
