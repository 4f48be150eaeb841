// Every command against a started service and a simulated provider: what it prints, what it
// changes, and its exit code.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { call, startSandbox, startService, token, type StartedService } from './service.ts'

const account = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'
const userKey = 'tp_live_only_for_automated_tests_given_by_the_operator'
const tenantToken = 'sandbox-token'

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let service: StartedService
let folder: string
const operator = (words: string, input?: string) =>
  call(words, { ...service.environment, INIT_CWD: folder }, input)
const done = async (words: string, input?: string) => {
  const { exit, out, err } = await operator(words, input)
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out).not.toContain(token)
  expect(out).not.toContain(tenantToken)
  return out
}
const read = async (words: string, input?: string) =>
  JSON.parse(await done(`${words} --json`, input))
const refused = async (words: string, code = 1) => {
  const { exit, out, err } = await operator(words)
  expect([exit, out]).toEqual([code, ''])
  return err
}
const ask = async (key: string, path: string, body?: object) => {
  const response = await fetch(`${service.apiUrl}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const { data } = (await response.json()) as { data: never }
  return { status: response.status, data }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-call-'))
  sandbox = await startSandbox()
  service = await startService({
    OPERATOR_TOKEN: token,
    BROKER: 'metaapi',
    CAPABILITIES: 'events',
    METAAPI_PROVISIONING_URL: sandbox.url,
    METAAPI_CLIENT_URL: sandbox.url,
  })
})
afterAll(async () => {
  await service?.stop()
  await sandbox?.stop()
  await rm(folder, { recursive: true, force: true })
})

it('an empty service gets a tenant, a user, an account as the provider describes it, and a key', async () => {
  expect(await done('tenants list')).toBe('There are no tenants.\n')
  expect(await done('tenants create acme --name Acme --provider-token-file -', tenantToken)).toBe(
    'create tenants acme: name Acme, providerToken (a secret)\n',
  )
  await done('users create u-1 --tenant acme --email owner@example.com --plan pro')
  // Also with all of these options: it knows the broker, and whether the account is a demo account.
  const all = ' --name Mine --number 77 --server S --currency USD --platform mt5 --region london'
  for (const options of ['', all])
    expect(
      await refused(`accounts link --user u-1 --provider-account nowhere${options}`),
    ).toContain(
      "--provider-account must be an account that the provider can read; the tenant's token finds no such account there",
    )
  await done(`accounts link --user u-1 --provider-account demo --id ${account} --name Mine`)
  expect(await read('accounts list')).toMatchObject([
    {
      id: account,
      name: 'Mine',
      accountNumber: expect.stringMatching(/^\d+$/),
      server: 'SandboxMarkets-Demo',
      brokerType: 'mt5',
      purpose: 'trading',
      isDemo: true,
      currency: 'USD',
      providerAccountId: 'demo',
    },
  ])
  expect(
    await done(
      'accounts link --user u-1 --provider-account demo --id 0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3e',
    ),
  ).toMatch(
    new RegExp(
      `^Notice: tenant acme already has this provider account, as ${account} of u-1\\.\ncreate accounts`,
    ),
  )
  await done('accounts unlink 0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3e')
  const options = '--scope accounts:read,trading:read --allow 127.0.0.1/32 --expires 2030-01-31'
  const out = await done(`keys make --user u-1 --id k-1 --name bot ${options}`)
  const [key = ''] = /tp_live_[\w-]+/.exec(out) ?? []
  expect(out).toContain(`shown only this once:\n\n  key k-1  ${key}\n`)
  expect((await ask(key, '/accounts')).data).toMatchObject([
    { id: account, balance: expect.any(Number) },
  ])
  expect(await read('keys list --user u-1')).toMatchObject([
    {
      id: 'k-1',
      name: 'bot',
      ipAllowlist: ['127.0.0.1/32'],
      expiresAt: '2030-01-31T00:00:00.000Z',
    },
  ])
  expect(await done('keys list')).not.toContain(key)
  expect(await done('keys revoke k-1')).toBe('change apiKeys k-1: enabled yes -> no\n')
  expect((await ask(key, '/accounts')).status).toBe(401)
  expect(await done('keys revoke k-1')).toBe('No changes; already as requested: key k-1.\n')
  // A time without an offset is UTC, wherever the operator is.
  vi.stubEnv('TZ', 'Pacific/Kiritimati')
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)
  expect((await read(`keys make --user u-1 --expires ${inAnHour}`)).apiKeys).toMatchObject([
    { id: expect.stringMatching(/^key-[0-9a-f]{12}$/), key: expect.stringMatching(/^tp_live_/) },
  ])
  vi.unstubAllEnvs()
})

/** Each line has the line before it nine times. */
const aliasBomb = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  'b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]',
  'c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]',
  'd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]',
].join('\n')

describe('apply', () => {
  const yaml = `
tenants:
  - { id: empty, name: Nobody }
users:
  - { id: u-2, tenantId: acme, email: second@example.com }
apiKeys:
  - { id: k-given, userId: u-1, key: ${userKey}, scopes: [trading:read, trading:write] }
accessTokens:
  - { id: t-1, userId: u-1, applicationId: app-1, scopes: [trading:read], expiresAt: 2100-01-01T00:00:00Z }
desks:
  - { id: d-1, tenantId: acme, accounts: [${account}], limits: { maxOpenLots: 50 } }
riskThresholds:
  - { accountId: ${account}, type: equity_below, severity: critical, value: 9000 }
`
  it('shows what a file would change, then changes it, and shows keys and tokens this once', async () => {
    await writeFile(join(folder, 'acme.yaml'), yaml)
    const planned = await done('apply acme.yaml --plan')
    expect(planned).toContain('create desks d-1: tenantId acme, ')
    expect(planned).toContain('ipAllowlist everywhere,')
    expect(planned).toContain('6 changes would be made. Nothing was changed.')
    expect(await read('tenants list')).toHaveLength(1)
    const out = await done('apply acme.yaml')
    expect(out).toContain('create desks d-1: tenantId acme, ')
    expect(out).toContain('The document is applied.')
    expect(out).toContain(`key k-given  ${userKey}`)
    expect(out).toMatch(/token t-1 {2}[\w-]{40,}/)
    const input = JSON.stringify({ users: [{ id: 'u-2', plan: 'enterprise' }] })
    const fields = [{ field: 'plan', from: 'free', to: 'enterprise' }]
    expect(await read('apply - --plan', input)).toEqual({
      changes: [{ section: 'users', id: 'u-2', action: 'change', fields }],
      ordersUnderWay: [],
    })
    expect(await read('apply -', input)).toMatchObject({ changes: [{ id: 'u-2' }], apiKeys: [] })
    expect(await done('apply -', input)).toContain('Nothing to change')
    expect(await done('apply - --plan', '{ users: [{ id: u-1, removed: true }] }')).toContain(
      'remove users u-1, with 1 account, 3 keys, 1 token\n',
    )
  })

  it('reports every fault by its path and its line, and changes nothing', async () => {
    const users = ['  - id: u-3', '    tenantId: nowhere', '    email: nobody', '    plam: free']
    await writeFile(join(folder, 'faulty.yaml'), ['users:', ...users].join('\n'))
    expect(await refused('apply faulty.yaml')).toBe(
      [
        'The service rejected the request (2 errors):',
        '  line 5: users[0].plam is not a known field; the nearest is plan',
        '  line 4: users[0].email must be an e-mail address, without a display name; got "nobody"',
        'Nothing was changed. Correct this and call again.',
        '',
      ].join('\n'),
    )
    const issues = [
      { path: 'users[0].plam', line: 5 },
      { path: 'users[0].email', line: 4 },
    ]
    expect(JSON.parse(await refused('apply faulty.yaml --json'))).toMatchObject({
      error: { code: 'VALIDATION_ERROR', issues },
    })
  })

  it.each([
    ['tenants: [', /cannot be read as JSON or YAML:\n {2}line 1: /],
    [
      'users: []\ntenants: !vault abc',
      /line 2: column 10: Unresolved tag; put quotes around [^v]*$/m,
    ],
    ['', /must hold an object/],
    [
      'users: *nobody',
      /^other\.yaml cannot be read as a document: Unresolved alias [^:]*; put quotes around (?!.*nobody)/m,
    ],
    [aliasBomb, /^other\.yaml cannot be read as a document: Excessive alias count/m],
    ['accounts: [{ balance: 1e999 }]', /balance must be .*; got Infinity$/m],
    ['apiKeys: [{ expiresAt: .nan }]', /expiresAt must be .*; got NaN$/m],
    ['users: &users [*users]', /^other\.yaml cannot be read as a document: .*circular/m],
  ])('refuses %j before anything is sent', async (text, message) => {
    await writeFile(join(folder, 'other.yaml'), text)
    const err = await refused('apply other.yaml', 2)
    expect(err).toMatch(message)
    expect(err).toContain('Nothing was sent.')
    expect(await refused('apply missing.yaml', 2)).toContain(`Relative names begin in ${folder};`)
  })
})

it('lists are tables for people, with how many there are, and arrays for programs', async () => {
  expect(await done('tenants list')).toBe(
    [
      'ID     NAME    PROVIDER TOKEN',
      'acme   Acme    yes',
      'empty  Nobody  no',
      '2 tenants',
      '',
    ].join('\n'),
  )
  expect(await done('users list --limit 1')).toMatch(/u-1.*\nThe first 1 users; --limit shows more/)
  expect(await done('desks list --tenant acme')).toMatch(
    new RegExp(`d-1 +acme +50 .*${account}\n1 desk`),
  )
  expect(await done('keys list')).toMatch(/k-given .* everywhere\n/)
  expect(await done('tokens list --user u-1')).toMatch(
    /t-1 +u-1 +app-1 +yes +2100-01-01.*\n1 token/,
  )
})

it.each([
  ['users list --tenant nobody', 'You have no such tenant'],
  ['accounts list --user nobody', 'You have no such user'],
  ['keys list --user u-1 --tenant empty', 'You have no such user'],
])('a list of what does not exist is refused: %s', async (words, message) => {
  expect(await refused(words)).toContain(message)
})

describe('a change of one record', () => {
  const other = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3d'
  const link = `accounts link --user u-2 --name Second --number 77 --server S --currency EUR --id ${other}`

  it.for([
    [link, `create accounts ${other}: `],
    [`accounts unlink ${other}`, `remove accounts ${other}\n`],
    ['tokens revoke t-1', 'change accessTokens t-1: enabled yes -> no\n'],
    [
      'tenants show acme',
      'acme  Acme\nprovider token: set\n\nusers (2)\n',
      `${account}  equity_below  critical  9000   no    no             no        -              -\n`,
    ],
  ])('is reported: %s', async ([words = '', ...printed]) => {
    const out = await done(words)
    for (const text of printed) expect(out).toContain(text)
  })

  it.each([
    ['keys make --user u-1 --id k-given --scope trading:write', 'There already is key k-given'],
    [
      'keys revoke k-none',
      'There is no key k-none, and nothing was changed.\npnpm operator keys list',
    ],
    [`accounts unlink ${other}`, `There is no account ${other}`],
    ['accounts unlink x', '\n  <account> must be the UUID of an account'],
    ['accounts link --user u-1 --id x', '\n  --id must be the UUID of an account'],
    ['keys make --user u-1 --scope all', '  --scope must be one of accounts:read, '],
    [
      'accounts link --user u-none --provider-account demo',
      'There is no user u-none, and nothing was changed.\npnpm operator users list',
    ],
  ])('is refused: %s', async (words, message) => {
    expect(await refused(words)).toContain(message)
  })
})

it('of two commands at once that make one record, one is refused', async () => {
  const called = await Promise.all(
    ['first', 'second'].map((name) =>
      operator(`users create u-twin --tenant acme --email ${name}@example.com`),
    ),
  )
  expect(new Set(called.map(({ exit }) => exit))).toStrictEqual(new Set([0, 1]))
  const made = called[0]?.exit === 0 ? 'first' : 'second'
  expect(called.map(({ err }) => err).join('')).toContain('There already is user u-twin')
  expect(await read('users list')).toContainEqual(
    expect.objectContaining({ id: 'u-twin', email: `${made}@example.com` }),
  )
})

const placed = async (): Promise<string> => {
  const order = {
    accountId: account,
    symbol: 'EURUSD',
    type: 'buy',
    orderType: 'market',
    volume: 0.1,
  }
  const { id } = (await ask(userKey, '/orders', order)).data
  await expect
    .poll(() => read('orders list'))
    .toContainEqual(expect.objectContaining({ id, step: 'looking_up' }))
  return id
}
/** A lookup may be recorded at the same moment; then the call is repeated. */
const finish = async (id: string, options: string) => {
  for (;;) {
    const { out, err } = await operator(`orders finish ${id} ${options}`)
    if (!err.includes('changed at the same moment')) return out + err
  }
}

describe('an order whose outcome is unknown', () => {
  // The broker executes orders, answers none of them, and shows no records.
  beforeAll(async () => {
    for (const route of ['trade', 'positions', 'orders', 'deals', 'history-orders'])
      await fetch(`${sandbox.url}/sandbox/v1/faults`, {
        method: 'POST',
        body: JSON.stringify({ account: 'demo', route, fault: { kind: 'timeout', when: 'after' } }),
      })
  })

  it('is listed, is named by a change that touches it, and is ended by hand once', async () => {
    expect(await done('orders list')).toBe('There are no orders under way.\n')
    await done('apply -', '{ desks: [{ id: d-1, removed: true }] }')
    const id = await placed()
    expect(await done('orders list --stuck')).toBe('There are no orders under way.\n')
    expect(await done(`orders show ${id}`)).toMatch(/^destination\.providerAccountId +demo$/m)
    const input = JSON.stringify({ accounts: [{ id: account, providerAccountId: 'other' }] })
    expect(await done('apply - --plan', input)).toContain(
      `Warning: 1 order under way is affected:\n  ${id} (looking_up) on account ${account}: its account is linked to another provider account, region or platform\n`,
    )
    const filled = "--as filled --reason 'seen in the terminal' --by kim"
    expect(await finish(id, `${filled} --price 1.0842 --volume 0.1 --position 90001`)).toBe(
      `The order ${id} is now filled.\n`,
    )
    expect((await ask(userKey, `/orders/${id}`)).data).toMatchObject({
      status: 'filled',
      fillPrice: 1.0842,
      positionId: `${account}:90001`,
    })
    expect(await done(`orders show ${id}`)).toMatch(/^finished\.reason +seen in the terminal$/m)
    expect(await finish(id, filled)).toContain('only a pending or open order can be ended by hand')
    const rejected = await placed()
    expect(await finish(rejected, '--as rejected --reason r --price 1')).toContain(
      '--price must be absent where the order was rejected',
    )
    expect(await finish(rejected, '--as rejected --reason r')).toContain('is now rejected')
  })
})

it.each([
  [
    'a wrong token',
    { OPERATOR_TOKEN: 'another-token' },
    /not accept the token of OPERATOR_TOKEN\./,
  ],
  ['what is no token', { OPERATOR_TOKEN: 'two words' }, /OPERATOR_TOKEN must hold a token/, 2],
  [
    'no token',
    { OPERATOR_TOKEN: '', DATA_DIR: '/nowhere' },
    /\/nowhere\/operator-token cannot be/,
    2,
  ],
  ['no service', { OPERATOR_URL: 'http://127.0.0.1:2' }, /\(ECONNREFUSED\)\.\nIs it running\?/],
  ['a forbidden port', { OPERATOR_URL: 'http://127.0.0.1:10080' }, /cannot be .* \(bad port\)\./],
])('%s is an error that says what to do', async (_, env, message, code = 1) => {
  const { exit, out, err } = await call('tokens revoke t', { ...service.environment, ...env })
  expect([exit, out]).toEqual([code, ''])
  expect(err).toMatch(message)
  expect(err).not.toMatch(/another-token|two words/)
})

it('a file may hold the token, and a URL may have spaces around it and slashes at its end', async () => {
  await writeFile(join(folder, 'token'), `${token}\n`)
  const { OPERATOR_URL } = service.environment
  for (const [option, url] of [[`--url ${OPERATOR_URL}`], ['', ` ${OPERATOR_URL}// `]] as const) {
    const words = `tenants list --token-file token ${option}`
    const called = await call(words, { INIT_CWD: folder, OPERATOR_URL: url })
    expect(called).toMatchObject({ exit: 0 })
  }
})

it.each([
  'keys forge',
  'keys list --tennant acme',
  "keys make --user u-1 --allow ''",
  'tenants list --url localhost:3001',
  'tenants list --url http://127.0.0.1:3001/?a=1',
  'users list --limit 0',
  "tenants show ''",
  'accounts list --tenant .',
  'orders finish .. --as rejected --reason r',
])('%s is wrong usage', async (words) => {
  expect(await refused(words, 2)).not.toBe('')
})

it.each([
  [
    'orders finish o-1 --as filled --reason r --price -1',
    "'--price <price>' argument '-1' is invalid. It must be a number above 0 in digits, such as 0.5.",
  ],
  ['accounts link --user u-1 --platform MT5', 'Allowed choices are mt4, mt5, paper.'],
  ['keys make --usr u-1', "unknown option '--usr'"],
  ['keys make --json', '{"error":{"code":"USAGE","message":"error: required option '],
  ['report --account a --output r.pdf --from 2026-02-30', 'It must be a day such as 2026-01-31'],
  [
    'keys make --user u-1 --expires 2026-01-31',
    "'--expires <time>' argument '2026-01-31' is invalid. It must be in the future; now is ",
  ],
])('%s says what is accepted', async (words, message) => {
  expect(await refused(words, 2)).toContain(message)
})

it.each(['--help', 'keys make --help'])('%s shows help', async (words) => {
  expect(await done(words)).toMatch(/^Usage: operator/)
})
