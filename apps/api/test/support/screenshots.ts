// Compares screenshots of pages with those that are kept in test/screenshots.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pixelmatch from 'pixelmatch'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'

const kept = resolve(import.meta.dirname, '../screenshots')
/** Not in the repository. */
const differing = resolve(import.meta.dirname, '../../.reports/screenshots')
const isAccepting = process.env['ACCEPT_SCREENSHOTS'] === '1'
const acceptCommand = 'npx --yes pnpm@10.34.9 --filter @tradeport/api accept-screenshots'

/** Of all pixels. One version of Chromium smooths edges a little differently than the next. */
const toleratedShare = 0.0002
/** Longer pages are cut, so that the screenshots stay small. */
const mostHeight = 1_200

/**
 * Whether letters look as in the screenshots, which have the font that Debian's Chromium comes with.
 */
export const hasFont = () => {
  try {
    return execFileSync('fc-match', ['sans-serif'], { encoding: 'utf8' }).startsWith(
      'DejaVuSans.ttf',
    )
  } catch {
    return false
  }
}

/**
 * Waits until a page looks as in the screenshot that is kept. What is wrong with it, as a sentence,
 * where it stands still and looks otherwise.
 */
export const screenshotFault = async (name: string, page: Page) => {
  const file = join(kept, `${name}.png`)
  const expected = read(file)
  let last: Buffer | undefined
  for (let attempt = 0; ; attempt += 1) {
    await page.locator('.reading, .connecting').first().waitFor({ state: 'detached' })
    const screenshot = await screenshotOf(page)
    const shown = withFewerColours(PNG.sync.read(screenshot))
    const difference = differenceOf(shown, expected)
    if (difference === undefined) return undefined
    if (last?.equals(screenshot) === true || attempt === maxAttempts)
      return faultOf(name, file, shown, difference)
    last = screenshot
    await pause(150)
  }
}

const maxAttempts = 60

const screenshotOf = async (page: Page) => {
  const width = page.viewportSize()?.width ?? 0
  const height = await page.evaluate<number>('document.documentElement.scrollHeight')
  return page.screenshot({
    fullPage: true,
    clip: { x: 0, y: 0, width, height: Math.min(height, mostHeight) },
    animations: 'disabled',
    caret: 'hide',
  })
}

/** Keeps the screenshot for whoever looks into it; undefined where it is accepted. */
const faultOf = (
  name: string,
  file: string,
  shown: PNG,
  difference: string,
): string | undefined => {
  const written = isAccepting ? file : join(differing, `${name}.png`)
  mkdirSync(dirname(written), { recursive: true })
  writeFileSync(written, PNG.sync.write(shown, { colorType: 2, filterType: 0, deflateStrategy: 0 }))
  if (isAccepting) return undefined
  const path = relative(process.cwd(), written)
  return `${name} ${difference}; it looks like ${path}. If that is right: ${acceptCommand}`
}

/**
 * 16 steps of each colour, but for the light ones, which tell one ground from another: two thirds
 * as many bytes.
 */
const withFewerColours = (screenshot: PNG): PNG => {
  const { data } = screenshot
  for (let index = 0; index < data.length; index += 1) {
    const value = data[index] ?? 0
    data[index] = value >= 0xe0 ? value : (value >> 4) * 17
  }
  return screenshot
}

const read = (file: string): PNG | undefined => {
  try {
    return PNG.sync.read(readFileSync(file))
  } catch {
    return undefined
  }
}

const differenceOf = (shown: PNG, expected: PNG | undefined): string | undefined => {
  if (expected === undefined) return 'has no screenshot yet'
  const { width, height } = shown
  if (width !== expected.width || height !== expected.height)
    return `has ${width} × ${height} pixels instead of ${expected.width} × ${expected.height}`
  const count = pixelmatch(shown.data, expected.data, undefined, width, height, { threshold: 0.03 })
  const share = count / (width * height)
  return share > toleratedShare
    ? `differs in ${(share * 100).toFixed(2)} % of its pixels`
    : undefined
}
