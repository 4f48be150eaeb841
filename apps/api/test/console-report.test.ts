// The report of the console in a real browser, and as a file that the command line makes.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnProgram } from '@tradeport/testkit/programs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chromiumPath, follow, shows, signInAs, useBrowser, region } from './support/browser.ts'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import { linkDesk, untilAgreed } from './support/desk.ts'
import { operate, operatorToken, startTestService, useTestService } from './support/service.ts'

const trades = Array.from({ length: 40 }, (_, at) =>
  tradeDeals({
    positionId: String(at + 100),
    profit: at % 3 === 0 ? -20 - at : 15,
    openedAt: new Date(Date.UTC(2026, 0, at + 10, 10)).toISOString(),
    closedAt: new Date(Date.UTC(2026, 0, at + 10, 22, 30)).toISOString(),
  }),
).flat()
const history = historyOf([
  depositDeal('1', '2026-01-01T00:00:00.000Z', 1_000),
  ...trades,
  // It was opened before the broker's records begin.
  ...tradeDeals({
    positionId: '900',
    profit: 3,
    openedAt: '2026-01-02T10:00:00.000Z',
    closedAt: '2026-01-02T11:00:00.000Z',
  }).slice(1),
  depositDeal('2', '2026-02-01T00:00:00.000Z', -100),
])

const money = (amount: number) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(amount)

/** Pages of a file of Chromium. */
const pagesOf = (file: Buffer) =>
  file.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0

/**
 * Calls `operator report` in a new folder, and returns what it printed and the files that it wrote.
 */
const callOperator = async (
  { apiUrl, operatorUrl }: { readonly apiUrl: string; readonly operatorUrl: string },
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
) => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-report-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const program = spawnProgram(
    'apps/cli/src/main.ts',
    {
      ...process.env,
      INIT_CWD: folder,
      API_URL: apiUrl,
      OPERATOR_URL: operatorUrl,
      OPERATOR_TOKEN: operatorToken,
      TZ: 'UTC',
      ...env,
    },
    ['report', '--output', 'r.pdf', ...words],
  )
  const code = await program.exited
  const files = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name))),
  )
  return { code, out: program.output(), err: program.errors(), files }
}

describe.skipIf(chromiumPath === undefined)('the report', () => {
  const browser = useBrowser()
  const service = useTestService([], { environment: { CAPABILITIES: 'console,insights' } })
  const open = async (path: string, user: string, options = {}) => {
    const page = await browser.open(`${service.apiUrl}/console/report?${path}`, {
      timezoneId: 'Europe/Berlin',
      ...options,
      user,
    })
    await page.locator('[data-report=complete], [data-report=failed]').waitFor()
    return page
  }

  it("has the API's figures of the period, and says what is left out", async () => {
    const desk = await linkDesk(service, { user: 'u-1', broker: { history } })
    await untilAgreed(desk)
    const page = await open(`account=${desk.accountId}&from=2026-01-13&to=2026-02-15`, 'u-1')
    const period = 'startDate=2026-01-12T23:00:00.000Z&endDate=2026-02-15T22:59:59.999Z'
    const { body } = await desk.get(`/trades/stats?accountId=${desk.accountId}&${period}`)
    const { totalTrades, netProfit, maxDrawdown, largestWin, largestLoss } = body.data
    const textOf = (name: string) => page.getByRole('region', { name }).innerText()
    expect(totalTrades).toBe(34)
    const shown = await textOf('Result')
    for (const figure of [String(totalTrades), money(netProfit), money(maxDrawdown)])
      expect(shown).toContain(figure)
    expect(await textOf('Account and period')).toContain('Europe/Berlin')
    expect(await textOf('Does the history agree')).toContain('It agrees')
    const rows = region(page, 'Worst and best trades').getByRole('row')
    expect(await rows.nth(1).innerText()).toContain(money(-largestLoss))
    expect(await rows.nth(6).innerText()).toContain(`+${money(largestWin)}`)
    expect(await rows.nth(1).getByRole('link').getAttribute('href')).toContain(desk.accountId)
    const titles = region(page, 'Balance and drawdown').locator('svg title')
    expect(await titles.allTextContents()).toEqual(['Feb 1, 2026: withdrawal -100'])
    expect(await textOf('Months and distribution')).toMatch(
      /Jan\s[^]*Feb\s[^]*How many of 34 trades/,
    )
    expect(await textOf('What is left out')).toContain(
      'Position 900: the deal that opened it is not in the history',
    )
    expect(await page.title()).toBe('Report of Account 1, 2026-01-13 to 2026-02-15')
    expect(await page.locator('.title').innerText()).toMatch(
      /Closed trades, 2026-01-13 to 2026-02-15; made /,
    )
    await page.getByLabel('Closed from').fill('')
    await shows(page, 'Closed trades, until 2026-02-15; made ')
  })

  it('says of many trades that neither their worst and best nor estimated volumes are looked up', async () => {
    const desk = await linkDesk(service, { user: 'u-4', broker: { history } })
    const page = await browser.open(`${service.apiUrl}/console/report?account=${desk.accountId}`)
    await page.route('**/api/v1/trades/stats?*', async (route) => {
      const { data, ...reply } = await (await route.fetch()).json()
      await route.fulfill({ json: { ...reply, data: { ...data, totalTrades: 5_001 } } })
    })
    await signInAs(page, 'u-4')
    await shows(
      page,
      'The worst and best of 5,001 trades are not listed',
      'Which volumes are estimated: of more than 5,000 trades',
    )
  })

  it('prints the same to A4 and letter, in dark colours as well', async () => {
    const desk = await linkDesk(service, { user: 'u-5', broker: { history } })
    const page = await open(`account=${desk.accountId}`, 'u-5', { colorScheme: 'dark' })
    for (const format of ['A4', 'Letter'])
      expect(pagesOf(await page.pdf({ format, printBackground: true }))).toBe(3)
    await page.emulateMedia({ media: 'print' })
    const printed = await page.evaluate<string>('document.body.innerText')
    expect(printed).toMatch(/^\s*TRADING REPORT\s+Account 1\s[^]*What is left out[^]*metaapi\.\s*$/)
    expect(
      await page.evaluate('getComputedStyle(document.querySelector(".report h2")).color'),
    ).toBe('rgb(0, 0, 0)')
  })

  it('is not made where something cannot be read', async () => {
    const desk = await linkDesk(service, { user: 'u-2', broker: { history } })
    const page = await browser.open(`${service.apiUrl}/console/report?account=nothing`)
    await page.getByLabel('Stay signed in').check()
    await signInAs(page, 'u-2')
    const refusal = async (path: string) => {
      await page.goto(`${service.apiUrl}/console/report?${path}`)
      return page.getByRole('alert').innerText()
    }
    await shows(page, 'no account with the id "nothing"')
    expect(await refusal(`account=${desk.accountId}&from=2026-02-30`)).toContain(
      'from must be a day such as 2026-01-31; got "2026-02-30".',
    )
    expect(await refusal(`account=${desk.accountId}&from=2026-02-02&to=2026-02-01`)).toContain(
      'from must not be after 2026-02-01; got "2026-02-02".',
    )
    desk.fail('any', { kind: 'unavailable' })
    onTestFinished(() => desk.heal())
    expect(await refusal(`account=${desk.accountId}`)).toContain('The report cannot be made')
  })

  it.each([
    [
      'deals are missing',
      'deals',
      { kind: 'last-rows', rows: 20 },
      /It differs: the broker's balance is \$[\d.,]+ (?:more|less) than the \d+ deals add up to/,
      /1:100/,
      /they may explain why its balance differs by \$[\d.,]+\./,
    ],
    [
      'the balance cannot be read',
      'account-information',
      { kind: 'unavailable' },
      /Not checked: [^]*not known[^]*not known/,
      /not known: never read/,
      /Deals that the broker has not reported, should there be any\./,
    ],
  ] as const)('says so where %s', async (_, route, fault, reconciled, identity, leftOut) => {
    const user = `u-${route}`
    const desk = await linkDesk(service, { user, broker: { history } })
    desk.fail(route, fault)
    onTestFinished(() => desk.heal())
    const page = await open(`account=${desk.accountId}`, user)
    const textOf = (name: string) => page.getByRole('region', { name }).innerText()
    expect(await textOf('Does the history agree')).toMatch(reconciled)
    expect(await textOf('Account and period')).toMatch(identity)
    expect(await textOf('What is left out')).toMatch(leftOut)
    await page.goto(`${service.apiUrl}/console?account=${desk.accountId}`)
    await signInAs(page, user)
    await shows(page, /(Yes|No), as far as is known/)
  })

  it('says what it does not know without the capability insights', async () => {
    const without = await startTestService([], { environment: { CAPABILITIES: 'console' } })
    onTestFinished(() => without.close())
    const desk = await linkDesk(without, { user: 'u-1', broker: { history } })
    const page = await browser.open(`${without.apiUrl}/console/trades?account=${desk.accountId}`, {
      user: 'u-1',
    })
    await follow(page, 'Report of this account')
    await page.locator('[data-report=complete]').waitFor()
    const missing = page.getByText('does not have the capability insights')
    await expect.poll(() => missing.count()).toBe(3)
  })

  it('is written to a file by the command line, from a running service', async () => {
    const desk = await linkDesk(service, { user: 'u-7', broker: { history } })
    const keys = () => operate(service.operatorUrl, '/tenants/acme/api-keys?limit=1000')
    const before = (await keys()).body.data
    const logged = service.logged.length
    const words = ['--account', desk.accountId, '--from', '2020-01-01', '--paper', 'letter']
    const { code, out, err, files } = await callOperator(service, words)
    expect([code, err, files.length]).toEqual([0, '', 1])
    expect(out).toContain('r.pdf')
    const [file = Buffer.of()] = files
    expect(file.toString('latin1')).toContain('/Title (Report of Account 1, since 2020-01-01)')
    expect(file.toString('latin1')).toContain('/MediaBox [0 0 612 792]')
    expect(pagesOf(file)).toBeGreaterThan(1)
    expect((await keys()).body.data).toEqual(before)
    const applied = service.logged.slice(logged).filter(({ event }) => event === 'document_applied')
    expect(applied.map(({ changes }) => changes)).toEqual([
      [expect.stringMatching(/^create apiKeys report-[0-9a-f]{12}$/)],
      [expect.stringMatching(/^remove apiKeys report-[0-9a-f]{12}$/)],
    ])
  })

  it.each([
    [
      'a broker that cannot be read',
      [],
      {},
      ['The report cannot be made: ', 'Nothing was written'],
    ],
    [
      'no Chromium',
      [],
      { CHROMIUM_PATH: '', PATH: '/nowhere' },
      ['There is no Chromium', 'apt-get install chromium', 'CHROMIUM_PATH'],
    ],
    [
      'a program that is none',
      [],
      { CHROMIUM_PATH: process.execPath },
      [`${process.execPath} cannot be started.`, 'bad option'],
    ],
    ['another URL', ['--api-url', 'http://127.0.0.1:1'], {}, ['cannot be reached', 'API_URL']],
  ])('is refused by the command line for %s', async (_, words, env, sentences) => {
    const desk = await linkDesk(service, { user: 'u-3', broker: { history } })
    desk.fail('any', { kind: 'unavailable' })
    onTestFinished(() => desk.heal())
    const called = await callOperator(service, ['--account', desk.accountId, ...words], env)
    for (const sentence of sentences) expect(called.err).toContain(sentence)
    expect([called.code, called.out, called.files]).toEqual([1, '', []])
    const { body } = await operate(service.operatorUrl, '/tenants/acme/api-keys?limit=1000')
    expect(JSON.stringify(body.data)).not.toContain('report-')
  })
})
