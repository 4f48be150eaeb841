// The report of an account as a PDF: the console's own page, printed by an installed Chromium,
// which is signed in with a key that can only read and is removed at the end.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { readUrl, unreachable } from './api.ts'
import { findChromium, withPage } from './chromium.ts'
import { printForPeople, printForPrograms, type CommandContext } from './context.ts'
import { codeOf, CommandFailure } from './failure.ts'
import { recordsOf } from './lists.ts'

const defaultUrl = 'http://127.0.0.1:3000'
const scopes = ['accounts:read', 'history:read']
/** Of the key where the command cannot remove it. Generous, because clocks differ. */
const keyLifetimeMs = 10 * 60_000
const timeoutMs = 120_000

export const paperNames = ['a4', 'letter']

export const writeReport = async (context: CommandContext): Promise<void> => {
  const { values, env, folder } = context
  const { accountId, from, to, output, paper = 'a4', apiUrl } = values as Record<string, string>
  const chromium = await findChromium(env, folder)
  const url = readUrl(apiUrl ?? (env['API_URL'] || defaultUrl), defaultUrl)
  await requireConsole(url)
  const query = new URLSearchParams({
    account: accountId ?? '',
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  })
  const owner = await ownerOf(context, accountId ?? '')
  // The key inside, so that it is also removed where the browser is interrupted.
  const pdf = await withPage(chromium, env, (page) =>
    withReadKey(context, owner, (key) =>
      print(page, `${url}/console/report?${query.toString()}`, key, paper),
    ),
  )
  const file = resolve(folder, output ?? '')
  await writeFile(file, pdf).catch((error: unknown) => {
    throw new CommandFailure('UNWRITABLE', `${file} cannot be written (${codeOf(error)}).`)
  })
  printForPrograms(context, { accountId, output: file })
  printForPeople(context, `The report of account ${accountId} is in ${file}.`)
}

const requireConsole = async (url: string): Promise<void> => {
  const advice = 'Say where the API for users listens with --api-url or API_URL.'
  const { status } = await fetch(`${url}/console/report`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw unreachable(url, error, [advice])
  })
  if (status !== 200)
    throw new CommandFailure(
      'NO_CONSOLE',
      `There is no console at ${url}, whose page is printed: it answered ${status}.`,
      { advice: [advice, 'The service needs the capability console, and its pages built.'] },
    )
}

const ownerOf = async (context: CommandContext, accountId: string): Promise<string> => {
  for await (const { id, userId } of recordsOf(context, 'accounts', {}))
    if (id === accountId) return String(userId)
  throw new CommandFailure('NOT_FOUND', `There is no account ${accountId}.`, {
    advice: ['pnpm operator accounts list shows those that exist.'],
  })
}

const withReadKey = async <A>(
  { api }: CommandContext,
  userId: string,
  use: (key: string) => Promise<A>,
): Promise<A> => {
  const id = `report-${randomBytes(6).toString('hex')}`
  const whenLost = `The key ${id}, which can only read, expires in ten minutes; pnpm operator keys revoke ${id} ends it now.`
  const expiresAt = new Date(Date.now() + keyLifetimeMs).toISOString()
  const readKey = { id, userId, name: 'Report of the operator', scopes, expiresAt }
  const { apiKeys } = await api.post<{ readonly apiKeys: readonly { readonly key: string }[] }>(
    '/apply',
    { apiKeys: [readKey] },
    whenLost,
  )
  try {
    return await use(apiKeys[0]?.key ?? '')
  } finally {
    await api.post('/apply', { apiKeys: [{ id, removed: true }] }, whenLost)
  }
}

const print = async (page: Page, url: string, key: string, format: string): Promise<Buffer> => {
  const isDone = page.locator('[data-report=complete]')
  const alert = page.getByRole('alert')
  try {
    await page.goto(url)
    // As a person signs in, so that the key is in no address.
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await isDone.or(alert).first().waitFor({ timeout: timeoutMs })
  } catch (error) {
    throw new CommandFailure(
      'NO_REPORT',
      `The page ${url} did not become complete, and nothing was written.`,
      // Playwright may repeat what was to be typed.
      { advice: ['The browser said:', (error as Error).message.replaceAll(key, '…')] },
    )
  }
  if (!(await isDone.isVisible()))
    throw new CommandFailure('NO_REPORT', (await alert.first().textContent()) ?? '', {
      advice: ['Nothing was written.'],
    })
  return page.pdf({ format, printBackground: true, tagged: true, outline: true })
}
