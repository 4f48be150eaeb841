// A real Chromium that looks at the console. What its pages do wrong fails the test: a violation of
// the Content-Security-Policy, an error in a script, a request to another host.
import axe from 'axe-core'
import {
  chromium,
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core'
import { afterEach, expect, onTestFinished } from 'vitest'
import { keyOf } from './desk.ts'

/** Where Chromium is installed; undefined: its tests are left out. */
export const chromiumPath = process.env['CHROMIUM_PATH'] || undefined

/** One for all files of a worker, because it takes seconds to start; it ends with the worker. */
let shared: Promise<Browser> | undefined

/** Opens pages. */
export const useBrowser = () => {
  let aheadMs = 0
  const faults: string[] = []
  afterEach(() => expect(faults.splice(0)).toEqual([]))

  /**
   * @param user who signs in to it
   * @param now epoch milliseconds at which the page's clock stands still; otherwise it can be moved
   * forward
   */
  const open = async (
    url: string,
    {
      user,
      now,
      ...options
    }: BrowserContextOptions & { readonly user?: string; readonly now?: number } = {},
  ) => {
    shared ??= chromium.launch({
      executablePath: chromiumPath ?? '',
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    })
    const browser = await shared
    const context = await browser.newContext({
      viewport: { width: 1_440, height: 900 },
      ...options,
    })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    // Chromium logs violations of the policy as errors, and every refused request.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        faults.push(message.text())
    })
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url())
      if (protocol !== 'blob:' && origin !== new URL(url).origin)
        faults.push(`a request to ${origin}`)
    })
    if (now === undefined) await page.clock.install()
    else {
      await page.clock.setFixedTime(now)
      // The page measures with it what its clock may not show.
      await page.addInitScript('performance.now = () => 0')
    }
    await page.goto(url)
    if (user !== undefined) await signInAs(page, user)
    return page
  }
  return {
    open,
    /** The clock of a service that `pass` moves as well. */
    now: () => Date.now() + aheadMs,
    /** Lets time pass for a page, and for a service that has `now`. */
    pass: (page: Page, ms: number) => {
      aheadMs += ms
      return page.clock.fastForward(ms)
    },
  }
}

export const signInAs = async (page: Page, user: string) => {
  await page.getByLabel('API key').fill(keyOf(user))
  await press(page, 'Sign in')
}

/** Signs out, and in as another user. */
export const changeUser = async (page: Page, user: string) => {
  await press(page, 'Sign out')
  await signInAs(page, user)
}

const finder =
  (role: 'button' | 'group' | 'heading' | 'link' | 'region') =>
  (within: Page | Locator, name: string | RegExp, exact = false) =>
    within.getByRole(role, { name, exact })
export const button = finder('button')
export const group = finder('group')
export const heading = finder('heading')
export const region = finder('region')
const link = finder('link')

/** Waits until a page, or a part of it, has the texts. */
export const shows = async (within: Page | Locator, ...texts: readonly (string | RegExp)[]) => {
  for (const text of texts) await within.getByText(text).waitFor()
}
export const lacks = async (within: Page | Locator, text: string | RegExp) =>
  expect(await within.getByText(text).count()).toBe(0)
export const press = (...named: Parameters<typeof button>) => button(...named).click()
export const follow = (...named: Parameters<typeof link>) => link(...named).click()

/** How many pixels a page is wider than its window. */
export const overflowOf = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')

/** What axe finds wrong with a page for readers who use it without sight or without a mouse. */
export const accessibilityFaults = async (page: Page) => {
  // Not as an element of the page, which its policy would refuse.
  if (await page.evaluate<boolean>('window.axe === undefined')) await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{
    readonly violations: readonly {
      readonly id: string
      readonly nodes: readonly { readonly html: string }[]
    }[]
  }>('axe.run({ resultTypes: ["violations"] })')
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
