// Every command against a started service, as its user calls it: what it prints, what it changes,
// and its exit code.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, startService } from './service.ts'
import type { Called, StartedService } from './service.ts'

const account = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'
const token = 'operator-token-for-tests'

let service: StartedService
let folder: string
/**
 * Calls the command line by its words as they are typed; none of these tests has a space in one.
 */
const operator = (words: string, input?: string): Promise<Called> =>
  call(words.split(' '), {
    environment: { OPERATOR_URL: service.operatorUrl, OPERATOR_TOKEN: token },
    folder,
    ...(input && { input }),
  })
const done = async (words: string, input?: string): Promise<string> => {
  const { exit, out, err } = await operator(words, input)
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out).not.toContain(token)
  return out
}
const read = async <A>(words: string, input?: string): Promise<A> =>
  JSON.parse(await done(`${words} --json`, input)) as A
/** What it says where it refuses. */
const refused = async (words: string): Promise<string> => {
  const { exit, out, err } = await operator(words)
  expect([exit, out]).toEqual([1, ''])
  return err
}

const yaml = `
# What Acme has.
tenants:
  - { id: acme, name: Acme, providerToken: provider-secret-of-acme }
  - { id: empty, name: Nobody }
users:
  - id: u-1
    tenantId: acme
    email: owner@example.com
    plan: pro
  - { id: u-2, tenantId: acme, email: second@example.com }
accounts:
  - { id: ${account}, userId: u-1, name: Main, brokerType: mt5, accountNumber: '5012345', server: Example-Demo,
      purpose: trading, isDemo: true, currency: USD, providerAccountId: p-1 }
apiKeys:
  - { id: k-given, userId: u-1, key: tp_live_only_for_automated_tests_given_by_the_operator, scopes: [accounts:read] }
accessTokens:
  - { id: t-1, userId: u-1, applicationId: app-1, scopes: [trading:read], expiresAt: 2100-01-01T00:00:00Z }
desks:
  - { id: d-1, tenantId: acme, accounts: [${account}], limits: { maxOpenLots: 50 } }
`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-call-'))
  await writeFile(join(folder, 'acme.yaml'), yaml)
  service = await startService({ OPERATOR_TOKEN: token, BROKER: 'metaapi' })
})
afterAll(async () => {
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('apply', () => {
  it('tells what a file would change and changes nothing', async () => {
    const out = await done('apply acme.yaml --plan')
    expect(out).toContain('create tenants acme: name Acme, providerToken (a secret)\n')
    expect(out).toContain('create desks d-1: tenantId acme, ')
    expect(out).toContain('8 changes would be made. Nothing was changed.')
    expect(out).not.toContain('provider-secret-of-acme')
    expect(await read('tenants list')).toEqual([])
  })

  it('brings the records to what a file says, named from where the user called, and tells the keys this once', async () => {
    const out = await done('apply acme.yaml')
    expect(out).toContain('The document is applied.')
    expect(out).toContain('key k-given  tp_live_only_for_automated_tests_given_by_the_operator')
    expect(out).toMatch(/token t-1 {2}[\w-]{40,}/)
    expect(await read('apply acme.yaml')).toEqual({
      apiKeys: [{ id: 'k-given', key: 'tp_live_only_for_automated_tests_given_by_the_operator' }],
      accessTokens: [],
    })
    expect(await done('apply acme.yaml --plan')).toContain(
      'change tenants acme: providerToken (a secret)',
    )
  })

  it('reads JSON from standard input', async () => {
    const input = JSON.stringify({ users: [{ id: 'u-2', plan: 'enterprise' }] })
    expect(await read('apply - --plan', input)).toEqual({
      changes: [
        {
          section: 'users',
          id: 'u-2',
          action: 'change',
          fields: [{ field: 'plan', from: 'free', to: 'enterprise' }],
        },
      ],
      ordersUnderWay: [],
    })
    expect(await done('apply -', input)).toBe('The document is applied.\n')
    expect(await read('users list --tenant acme')).toMatchObject([
      { id: 'u-1' },
      { id: 'u-2', plan: 'enterprise' },
    ])
  })

  it('tells every fault of a document by its path and its line, and changes nothing', async () => {
    const faulty = [
      'users:',
      '  - id: u-3',
      '    tenantId: nowhere',
      '    email: nobody',
      '    plam: free',
    ].join('\n')
    await writeFile(join(folder, 'faulty.yaml'), faulty)
    expect(await refused('apply faulty.yaml')).toBe(
      [
        'The service refuses it, for 2 faults:',
        '  line 5: users[0].plam is not known; the nearest name is plan',
        '  line 4: users[0].email must be an e-mail address, without a display name; got "nobody"',
        'Nothing was changed. Mend this and call again.',
        '',
      ].join('\n'),
    )
    expect(JSON.parse(await refused('apply faulty.yaml --json'))).toMatchObject({
      error: {
        code: 'VALIDATION_ERROR',
        issues: [
          { path: 'users[0].plam', line: 5 },
          { path: 'users[0].email', line: 4 },
        ],
      },
    })
  })

  it.each([
    ['no YAML', 'tenants: [', /neither JSON nor YAML:\n {2}line 1: /],
    ['a key that stands twice', 'users: []\nusers: []', /line 2: /],
    ['nothing', '', /holds no document/],
  ])('refuses %s before anything is sent', async (_, text, message) => {
    await writeFile(join(folder, 'other.yaml'), text)
    const err = await refused('apply other.yaml')
    expect(err).toMatch(message)
    expect(err).toContain('Nothing was sent.')
  })

  it('says which file it cannot read, and where relative names begin', async () => {
    const message = `missing.yaml cannot be read (ENOENT).\nRelative names begin in ${folder}; - reads standard input.\n`
    expect(await refused('apply missing.yaml')).toBe(message)
  })
})

describe('lists', () => {
  it('are tables for people and arrays for programs', async () => {
    expect(await done('tenants list')).toBe(
      [
        'ID     NAME    PROVIDER TOKEN',
        'acme   Acme    set',
        'empty  Nobody  not set',
        '2 tenants',
        '',
      ].join('\n'),
    )
    expect(await read('tenants list')).toEqual([
      { id: 'acme', name: 'Acme', hasProviderToken: true },
      { id: 'empty', name: 'Nobody', hasProviderToken: false },
    ])
    expect(await done('users list')).toMatch(
      /^ID +TENANT +EMAIL +PLAN\nu-1 +acme +owner@example.com +pro\nu-2 /,
    )
    expect(await done('accounts list')).toContain(
      `${account}  u-1   Main  mt5       5012345 @ Example-Demo  trading, demo  connected  never`,
    )
    expect(await done('tokens list --user u-1')).toMatch(
      /t-1 +u-1 +app-1 +good +2100-01-01T00:00:00.000Z +trading:read\n1 token/,
    )
    expect(await done('desks list --tenant acme')).toMatch(
      new RegExp(`d-1 +acme +50 +- +all +${account}\n1 desk`),
    )
    expect(await done('desks list --tenant empty')).toBe('There are no desks.\n')
  })

  it('show as many as are asked for, and say that there are more', async () => {
    expect(await done('users list --limit 1')).toMatch(
      /u-1.*\nThe first 1 users; --limit shows more, --json gives all of them.\n$/,
    )
    expect(await read('users list --limit 1')).toHaveLength(1)
  })

  it('say that a tenant is not there', async () => {
    const message =
      'The service answered: There is no tenant with this name or id. Check how it is written.\n'
    expect(await refused('users list --tenant nobody')).toBe(message)
  })
})

describe('keys', () => {
  it('are made with scopes, addresses and an end, shown once and usable at once', async () => {
    const options = '--scope accounts:read,trading:read --allow 127.0.0.1/32 --expires 2030-01-31'
    const out = await done(`keys make --user u-1 --id k-1 --name bot ${options}`)
    const [key = ''] = /tp_live_[\w-]+/.exec(out) ?? []
    expect(out).toBe(
      `The key k-1 of u-1 is made. This is the only time that it is shown:\n\n  ${key}\n\n`,
    )
    const answer = await fetch(`${service.apiUrl}/api/v1/accounts`, {
      headers: { 'X-API-Key': key },
    })
    expect(answer.status).toBe(200)
    const [listed] = await read<object[]>('keys list --tenant acme --user u-1')
    expect(listed).toEqual({
      id: 'k-1',
      userId: 'u-1',
      name: 'bot',
      scopes: ['accounts:read', 'trading:read'],
      ipAllowlist: ['127.0.0.1/32'],
      expiresAt: '2030-01-31T00:00:00.000Z',
      enabled: true,
    })
    expect(await done('keys list')).not.toContain(key)

    expect(await done('keys revoke k-1')).toBe('change apiKeys k-1: enabled true -> false\n')
    expect(
      (await fetch(`${service.apiUrl}/api/v1/accounts`, { headers: { 'X-API-Key': key } })).status,
    ).toBe(401)
    expect(await done('keys revoke k-1')).toBe('Nothing to change: the key k-1 is so already.\n')
    expect(await done('keys list --user u-1')).toMatch(/k-1 +u-1 +bot +revoked /)
  })

  it('are given as JSON to programs, with an id of our making', async () => {
    const { apiKeys, changes } = await read<{
      apiKeys: { id: string; key: string }[]
      changes: object[]
    }>('keys make --user u-2')
    expect(apiKeys).toEqual([
      { id: expect.stringMatching(/^key-[0-9a-f]{12}$/), key: expect.stringMatching(/^tp_live_/) },
    ])
    expect(changes).toMatchObject([{ section: 'apiKeys', action: 'create', id: apiKeys[0]?.id }])
  })

  it('are not made over one that is there, which stays as it is', async () => {
    const before = await read('keys list')
    for (const scope of ['trading:write', 'accounts:read'])
      expect(await refused(`keys make --user u-1 --id k-given --scope ${scope}`)).toContain(
        'There is a key k-given already, and nothing was changed.',
      )
    expect(await read('keys list')).toEqual(before)
  })

  it.each([
    ['keys revoke k-none', 'keys list', 'key k-none'],
    ['tokens revoke t-none', 'tokens list', 'token t-none'],
  ])('that are not there are not revoked, nor made: %s', async (words, list, noun) => {
    const message = `There is no ${noun} here, and nothing was changed.\npnpm operator ${list} shows those that are there.\n`
    expect(await refused(words)).toBe(message)
  })

  it('tell the faults of an option by its name', async () => {
    const err = await refused('keys make --user u-1 --scope accounts:read --scope all --allow home')
    expect(err).toContain('  --scope: it must be one of accounts:read, ')
    expect(err).toContain(
      '  --allow: it must be an IPv4 or IPv6 address, or a CIDR such as 10.0.0.0/8',
    )
    expect(await refused('keys make --user u-none')).toContain(
      '  --user: there is no user u-none\n',
    )
  })

  it('of other programs are revoked', async () => {
    expect(await done('tokens revoke t-1')).toBe('change accessTokens t-1: enabled true -> false\n')
  })
})

describe('accounts, limits, desks and challenges', () => {
  const other = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3d'
  const link = `accounts link --user u-2 --name Second --number 77 --server S --currency EUR --demo --id ${other}`

  it('are linked once and unlinked', async () => {
    expect(await done(`${link} --provider-account p-2`)).toContain(
      `create accounts ${other}: userId u-2, name Second`,
    )
    expect(await refused(link)).toContain(`There is an account ${other} already`)
    const [listed] = await read<object[]>('accounts list --user u-2')
    expect(listed).toMatchObject({
      id: other,
      brokerType: 'mt5',
      purpose: 'trading',
      isDemo: true,
      providerAccountId: 'p-2',
    })
    expect(await done(`accounts unlink ${other}`)).toBe(`remove accounts ${other}\n`)
    expect(await refused(`accounts unlink ${other}`)).toContain(`There is no account ${other} here`)
  })

  it('have limits that are set, unset and cleared', async () => {
    expect(await done(`limits set ${account} --max-open-lots 20 --symbols EURUSD,GBPUSD`)).toBe(
      `create traderLimits ${account}: limits.maxOpenLots 20, limits.allowedSymbols EURUSD GBPUSD\n`,
    )
    expect(await done(`limits set ${account} --max-open-lots none --approval-above 2.5`)).toBe(
      `change traderLimits ${account}: limits.maxOpenLots 20 -> unset, limits.approvalAboveLots unset -> 2.5\n`,
    )
    const [listed] = await read<{ limits: object }[]>('accounts list')
    expect(listed?.limits).toEqual({
      maxLotsPerOrder: null,
      maxOpenLots: null,
      maxOpenPositions: null,
      allowedSymbols: ['EURUSD', 'GBPUSD'],
      approvalAboveLots: 2.5,
    })
    expect(await refused(`limits set ${other} --max-open-lots 1`)).toContain(
      `there is no account ${other}`,
    )
    expect(await done('desks set d-1 --max-open-positions 7')).toBe(
      'change desks d-1: limits.maxOpenPositions unset -> 7\n',
    )
    expect(await done(`desks set d-2 --tenant acme --account ${account}`)).toContain(
      `create desks d-2: tenantId acme, accounts ${account}`,
    )
    expect(await done('desks remove d-2')).toBe('remove desks d-2\n')
  })

  it('have challenges, and all of it shows with the tenant', async () => {
    const started = '2026-10-01T00:00:00.000Z'
    expect(await done(`challenges set ${account} --started ${started} --status active`)).toBe(
      `create challenges ${account} ${started}: status active\n`,
    )
    expect(await done(`challenges set ${account} --started 2026-10-01 --status failed`)).toBe(
      `change challenges ${account} ${started}: status active -> failed\n`,
    )
    const shown = await done('tenants show acme')
    for (const line of [
      /^acme {2}Acme\nprovider token: set\n/,
      /Users \(2\)\n/,
      /API keys \(3\)\n/,
      /Access tokens \(1\)\n/,
      /EURUSD GBPUSD +2.5/,
    ])
      expect(shown).toMatch(line)
    expect(shown).toContain(`${account}  ${started}  failed`)
    expect(shown).not.toMatch(/tp_live_|provider-secret-of-acme/)
    expect(await read('tenants show acme')).toMatchObject({
      id: 'acme',
      hasProviderToken: true,
      users: [{ id: 'u-1' }, { id: 'u-2' }],
      accounts: [{ id: account, challenges: [{ startedAt: started, status: 'failed' }] }],
      desks: [{ id: 'd-1' }],
    })
    expect(await done(`challenges remove ${account} --started ${started}`)).toBe(
      `remove challenges ${account} ${started}\n`,
    )
    expect(await refused(`challenges remove ${account} --started ${started}`)).toContain(
      'There is no challenge',
    )
    expect(await done(`limits clear ${account}`)).toBe(`remove traderLimits ${account}\n`)
    expect(await done(`limits clear ${account}`)).toContain('Nothing to change')
  })
})

describe('where and as whom', () => {
  it.each([
    [
      'another token',
      { OPERATOR_TOKEN: 'another-token-altogether' },
      /does not take the token of OPERATOR_TOKEN\.\nSet OPERATOR_TOKEN to/,
    ],
    [
      'a token that is none',
      { OPERATOR_TOKEN: 'two words' },
      /What OPERATOR_TOKEN holds is no token/,
    ],
    [
      'no token at all',
      { OPERATOR_TOKEN: '', DATA_DIR: '/nowhere' },
      /There is no token to show to the service: \/nowhere\/operator-token cannot be read/,
    ],
    [
      'nobody there',
      { OPERATOR_URL: 'http://127.0.0.1:2' },
      /cannot be reached at http:\/\/127\.0\.0\.1:2 \(ECONNREFUSED\)\.\nIs it running\?/,
    ],
  ])('%s is told, with what to do', async (_, environment, message) => {
    const { exit, out, err } = await call(['tenants', 'list'], {
      environment: { OPERATOR_URL: service.operatorUrl, OPERATOR_TOKEN: token, ...environment },
    })
    expect([exit, out]).toEqual([1, ''])
    expect(err).toMatch(message)
    expect(err).not.toMatch(/another-token-altogether|two words/)
  })

  it('a file may hold the token, and the folder of the service', async () => {
    await writeFile(join(folder, 'token'), `${token}\n`)
    const fromFile = await call(
      ['tenants', 'list', '--url', service.operatorUrl, '--token-file', 'token', '--json'],
      { folder },
    )
    expect([fromFile.exit, JSON.parse(fromFile.out)]).toEqual([0, expect.any(Array)])
    await writeFile(join(folder, 'operator-token'), token)
    const environment = { DATA_DIR: folder, OPERATOR_URL: service.operatorUrl }
    expect((await call(['tenants', 'list'], { environment })).exit).toBe(0)
  })

  it('another service is not taken for ours', async () => {
    const { exit, err } = await call(['tenants', 'list'], {
      environment: { OPERATOR_URL: service.apiUrl, OPERATOR_TOKEN: token },
    })
    expect([exit, err]).toEqual([
      1,
      expect.stringContaining('The service answered: No route has this method and path.'),
    ])
    const stranger = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1')
    await new Promise((ready) => stranger.once('listening', ready))
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    const strange = await call(['tenants', 'list'], {
      environment: { OPERATOR_URL: url, OPERATOR_TOKEN: token },
    })
    stranger.close()
    expect([strange.exit, strange.err]).toEqual([
      1,
      expect.stringContaining(`What answers at ${url} is not the operator API: it answered 200`),
    ])
  })
})

describe('usage', () => {
  it.each([
    ['an unknown command', 'keys forge'],
    ['an unknown option', 'keys list --tennant acme'],
    ['a missing option', 'keys make'],
    ['a limit that is none', `limits set ${account} --max-open-lots many`],
    ['a price that is none', 'orders finish ord_1 --as filled --reason r --price 0'],
    ['nothing to set', `limits set ${account}`],
    ['no network where one is to be', 'keys make --user u-1 --allow  --name bot'],
    ['a URL that is none', 'tenants list --url localhost:3001'],
  ])('%s is wrong, and nothing is asked of the service', async (_, words) => {
    const { exit, out, err } = await operator(words)
    expect([exit, out]).toEqual([2, ''])
    expect(err).not.toBe('')
  })

  it.each(['--help', 'keys make --help'])('%j helps', async (words) => {
    expect(await done(words)).toMatch(/^Usage: operator/)
  })
})
