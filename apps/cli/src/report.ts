// The report of an account as a PDF: the console's own page, printed by an installed Chromium, which
// is signed in with a key that can only read and is removed at the end.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readUrl, unreachable } from './api.ts'
import { findChromium, withChromium, type ChromiumPage } from './chromium.ts'
import { say, sayJson, type CommandContext } from './context.ts'
import { codeOf, CommandFailure } from './failure.ts'
import { recordsOf } from './lists.ts'

const defaultUrl = 'http://127.0.0.1:3000'
const scopes = ['accounts:read', 'history:read']
/** Of the key where the command cannot remove it. Generous, because clocks differ. */
const keyLifetimeMs = 10 * 60_000
const longestMs = 120_000

/** In inches. */
const papers = {
  a4: { paperWidth: 8.27, paperHeight: 11.69 },
  letter: { paperWidth: 8.5, paperHeight: 11 },
} as const
export const paperNames = Object.keys(papers)

export const writeReport = async (context: CommandContext): Promise<void> => {
  const { values, env, folder } = context
  const { accountId, from, to, output, paper = 'a4', apiUrl } = values as Record<string, string>
  const chromium = await findChromium(env)
  const url = readUrl(apiUrl ?? (env['API_URL'] || defaultUrl), defaultUrl)
  await requireConsole(url)
  const query = new URLSearchParams({
    account: accountId ?? '',
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  })
  const pdf = await withReadKey(context, await ownerOf(context, accountId ?? ''), (key) =>
    withChromium(chromium, env, (page) =>
      print(page, `${url}/console/report?${query.toString()}`, {
        key,
        paper: papers[paper as keyof typeof papers],
      }),
    ),
  )
  const file = resolve(folder, output ?? '')
  await writeFile(file, pdf).catch((error: unknown) => {
    throw new CommandFailure('UNWRITABLE', `${file} cannot be written (${codeOf(error)}).`)
  })
  sayJson(context, { accountId, output: file })
  say(context, `The report of account ${accountId} is in ${file}.`)
}

const requireConsole = async (url: string): Promise<void> => {
  const said = 'Say where the API for users listens with --api-url or API_URL.'
  const { status } = await fetch(`${url}/console/report`, { redirect: 'manual' }).catch(
    (error: unknown) => {
      throw unreachable(url, error, [said])
    },
  )
  if (status !== 200)
    throw new CommandFailure(
      'NO_CONSOLE',
      `There is no console at ${url}, whose page is printed: it answered ${status}.`,
      { advice: [said, 'The service needs the capability console, and its pages built.'] },
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
  const made = { id, userId, name: 'Report of the operator', scopes, expiresAt }
  const { apiKeys } = await api.post<{ readonly apiKeys: readonly { readonly key: string }[] }>(
    '/apply',
    { apiKeys: [made] },
    whenLost,
  )
  try {
    return await use(apiKeys[0]?.key ?? '')
  } finally {
    await api.post('/apply', { apiKeys: [{ id, removed: true }] }, whenLost)
  }
}

interface PrintOptions {
  readonly key: string
  readonly paper: (typeof papers)[keyof typeof papers]
}

/** The state that the page shows of itself, and what it says where something is wrong. */
const stateOfPage = `(() => {
  const form = document.querySelector('main.sign-in form')
  return {
    state: document.querySelector('[data-report]')?.dataset.report,
    mayBeSignedIn: form?.querySelector('button:enabled') != null,
    fault: document.querySelector('[role=alert]')?.textContent,
  }
})()`

interface PageState {
  readonly state?: 'reading' | 'complete' | 'failed'
  readonly mayBeSignedIn: boolean
  readonly fault?: string
}

const print = async (page: ChromiumPage, url: string, { key, paper }: PrintOptions) => {
  const { errorText } = await page.call<{ errorText?: string }>('Page.navigate', { url })
  if (errorText !== undefined)
    throw new CommandFailure('UNREACHABLE', `Chromium cannot open ${url} (${errorText}).`)
  const until = performance.now() + longestMs
  const waitFor = async (isReached: (state: PageState) => boolean): Promise<void> => {
    for (;;) {
      const state = await page.evaluate<PageState>(stateOfPage)
      if (state.state !== 'complete' && state.fault !== undefined)
        throw new CommandFailure('NO_REPORT', state.fault, { advice: ['Nothing was written.'] })
      if (isReached(state)) return
      if (performance.now() > until)
        throw new CommandFailure(
          'NO_REPORT',
          `The page ${url} is not complete after ${longestMs / 1_000} seconds, and nothing was written.`,
        )
      await pause(50)
    }
  }
  await waitFor(({ mayBeSignedIn }) => mayBeSignedIn)
  // As a person signs in, so that the key is in no address, and no part of the page is for this alone.
  await page.evaluate(`(() => {
    const field = document.querySelector('main.sign-in input[type=password]')
    field.value = ${JSON.stringify(key)}
    field.dispatchEvent(new Event('input', { bubbles: true }))
  })()`)
  await page.evaluate("document.querySelector('main.sign-in form').requestSubmit()")
  await waitFor(({ state }) => state === 'complete')
  const { data } = await page.call<{ data: string }>('Page.printToPDF', {
    ...paper,
    printBackground: true,
    generateTaggedPDF: true,
    generateDocumentOutline: true,
  })
  return Buffer.from(data, 'base64')
}
