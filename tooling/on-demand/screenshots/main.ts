// `pnpm screenshots`: makes the README's pictures of the console from a demo of its own.
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { newFolder, startProgram } from '@tradeport/harness'
import type { Page } from 'playwright-core'
import { startChromium } from '../chromium.ts'

const root = resolve(import.meta.dirname, '../../..')
const folder = join(root, 'docs/pictures')
const mostBytes = 150_000

/** By file name, how to get there from the one before. */
const pictures: readonly (readonly [string, (page: Page) => Promise<void>])[] = [
  [
    'console-overview',
    (page) => page.getByRole('link', { name: 'Its trades and statistics' }).waitFor(),
  ],
  [
    'console-statistics',
    async (page) => {
      await page.getByRole('link', { name: 'Its trades and statistics' }).click()
      // Groups that are large enough to be more than luck.
      await page.getByRole('combobox', { name: 'by' }).selectOption('weekday')
    },
  ],
  [
    'console-trade',
    (page) => page.getByRole('group', { name: 'Closed trades' }).getByRole('link').first().click(),
  ],
]

/** Everything is read, and what is drawn with a pause is drawn. */
const settled = async (page: Page): Promise<void> => {
  await page.locator('main section').first().waitFor()
  await page.locator('.reading').first().waitFor({ state: 'detached' })
  await pause(2_000)
}

await using stack = new AsyncDisposableStack()
const { ready: link } = await startProgram(stack, {
  parameters: ['--conditions=@tradeport/source', join(root, 'apps/api/src/main.ts')],
  environment: { PORT: '0', OPERATOR_PORT: '0', DATA_DIR: await newFolder(stack) },
  ready: /(http\S+#code=\S+)/,
})
const browser = await startChromium()
stack.defer(() => browser.close())
const page = await browser.newPage({
  viewport: { width: 1_200, height: 900 },
  colorScheme: 'light',
  locale: 'en-US',
})
await page.goto(link)
const devtools = await page.context().newCDPSession(page)
await mkdir(folder, { recursive: true })
for (const [name, reach] of pictures) {
  await reach(page)
  // Not over a chart, which would draw its cross there.
  await page.mouse.move(0, 0)
  await settled(page)
  // Playwright itself makes no WebP, which is a fraction of the size.
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 85 })
  const picture = Buffer.from(data, 'base64')
  if (picture.length > mostBytes)
    throw new Error(`${name} has ${picture.length} bytes, more than ${mostBytes}`)
  await writeFile(join(folder, `${name}.webp`), picture)
  process.stdout.write(`docs/pictures/${name}.webp: ${picture.length} bytes\n`)
}
