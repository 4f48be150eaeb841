// What the repository shows and ships beside the code, compared with the service: the examples of
// the READMEs, the reference page, the list of metrics, and the files of a deployment.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { apiPrefix } from '@tradeport/http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig, variables } from '../src/config.ts'
import { spawnService, type ChildService } from './support/child-service.ts'
import { eventually } from './support/desk.ts'
import { newFolder, request, type Json } from './support/service.ts'

const root = resolve(import.meta.dirname, '../../..')
const read = (file: string) => readFile(join(root, file), 'utf8')
const run = promisify(execFile)

let folder: string
let demo: ChildService
let api: string
let key: string
beforeAll(async () => {
  folder = await newFolder()
  await mkdir(join(folder, 'node_modules/@tradeport'), { recursive: true })
  await symlink(join(root, 'packages/client'), join(folder, 'node_modules/@tradeport/client'))
  demo = spawnService({ PORT: '0', OPERATOR_PORT: '0', DATA_DIR: folder })
  api = (await demo.listening).api
  const printed = await eventually(demo.output, (output) => output.includes('Ctrl+C'))
  key = /tp_live_[\w-]+(?=\n)/.exec(printed)?.[0] ?? ''
})
afterAll(async () => {
  await demo?.stop()
  await rm(folder, { recursive: true, force: true })
})
const atDemo = (text: string) => text.replaceAll('http://127.0.0.1:3000', api)
/** Runs a program that imports the client, and returns the lines that it prints. */
const runProgram = async (code: string, env: Record<string, string>) => {
  await writeFile(join(folder, 'program.mjs'), code)
  return (
    await run(
      process.execPath,
      ['--conditions=@tradeport/source', '--no-warnings', 'program.mjs'],
      { cwd: folder, env },
    )
  ).stdout
    .trim()
    .split('\n')
}

describe('examples', () => {
  it('of the reference page work at the demo as they are', async () => {
    const { paths } = (await request(`${api}/api/v1/openapi.json`)).body
    const outcomes: Record<string, number> = {}
    for (const [path, methods] of Object.entries<Json>(paths))
      for (const [method, { operationId, parameters = [], requestBody }] of Object.entries<Json>(
        methods,
      )) {
        // What the demo does not have from its start, and what does not end.
        if (/^\/(?:orders|webhooks)\/|\/stream$/.test(path)) continue
        const needed = parameters.filter(
          ({ in: place, required }: Json) => place === 'query' && required === true,
        )
        const query = needed.map(
          ({ name, schema }: Json) => `${name}=${schema.examples?.[0] ?? schema.enum[0]}`,
        )
        const url = parameters.reduce(
          (text: string, { name, schema }: Json) =>
            text.replace(`{${name}}`, encodeURIComponent(schema?.examples?.[0])),
          `${api}/api/v1${path}?${query.join('&')}`,
        )
        const body = requestBody?.content['application/json'].example
        const { status } = await request(url, {
          method: method.toUpperCase(),
          headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        outcomes[operationId] = status
      }
    expect(outcomes).toEqual({
      ...Object.fromEntries(Object.keys(outcomes).map((name) => [name, 200])),
      placeOrder: 201,
      createWebhook: 201,
    })
    expect(Object.keys(outcomes)).toEqual(
      expect.arrayContaining(['getAccount', 'closePosition', 'moveTakeProfit', 'getTrade']),
    )
    await expect
      .poll(
        async () =>
          (await request(`${api}/api/v1/orders`, { headers: { 'X-API-Key': key } })).body.data,
      )
      .toMatchObject([{ status: 'filled' }])
  })

  it('of the README and the guide have replies of the shown shape, and its program runs', async () => {
    const readme = await read('README.md')
    const guide = await read('docs/guide.md')
    const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, KEY: key }
    const examples = [
      ...`${readme}\n${guide}`.matchAll(/^```sh\n(.*?)^```$(?:\n\n```json\n(.*?)\n```$)?/gms),
    ]
      // The commands that install and test everything are not run here.
      .filter(([, commands = '']) => !/^npx --yes pnpm@[\d.]+ (?:start|test)\n$/.test(commands))
    expect(examples.length).toBeGreaterThan(7)
    const script = examples
      .flatMap(([, commands = '']) => [commands, 'echo; echo "--- next ---"'])
      .join('\n')
    const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', atDemo(script)], {
      cwd: folder,
      env,
    })
    const replies = stdout.split('--- next ---\n')
    for (const [index, [, commands = '', shown]] of examples.entries()) {
      if (commands.includes(' -D - ')) {
        expect(replies[index]).toMatch(/^X-RateLimit-Remaining: \d+\r$/m)
        continue
      }
      // Several replies of one example stand in one line.
      const parsed: readonly Json[] = (replies[index] ?? '')
        .trim()
        .split(/(?<=\})(?=\{"success":)/)
        .filter((text) => text !== '')
        .map((text) => JSON.parse(text))
      // An example that only sets a variable prints nothing.
      if (!/^\w+=\$\(/.test(commands)) expect(parsed, commands).not.toHaveLength(0)
      for (const { success } of parsed)
        expect(success, commands).toBe(shown === undefined ? true : JSON.parse(shown).success)
      if (shown !== undefined)
        expect(shapeOf(parsed[0]), commands).toEqual(shapeOf(JSON.parse(shown)))
    }
    const [, program = ''] = /^```js\n(import \{ createClient .*?)^```$/ms.exec(readme) ?? []
    expect((await runProgram(atDemo(program), env)).slice(0, 2)).toEqual([
      'filled',
      expect.stringMatching(/^[A-Z0-9]+ (?:0|-\d+(?:\.\d+)?)$/),
    ])
  }, 300_000)

  it('of the client shows examples that make one program, which runs and prints what it says', async () => {
    const blocks = [
      ...(await read('packages/client/README.md')).matchAll(/^```js\n(.*?)^```$/gms),
    ].map(([, code = '']) => code)
    const env = { TRADEPORT_URL: `${api}/api/v1`, TRADEPORT_KEY: key }
    expect(await runProgram(blocks.join('\n'), env)).toEqual([
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^\S.*: -?\d+(\.\d+)? USD$/)),
      expect.stringMatching(/^\d+ trades, 0 left out, net -?\d+(\.\d+)?$/),
      expect.stringMatching(/^\d+ closed today, [1-9]\d* open$/),
      expect.stringMatching(/^trades_\d{4}-\d\d-\d\d\.csv id,accountId,positionId,symbol,/),
      'pending',
      expect.stringMatching(/^filled [0-9a-f-]{36}:\d+$/),
      expect.stringMatching(/^evt_[0-9a-z]{28} [a-z._]+ [0-9a-f-]{36}$/),
      expect.stringMatching(/^24 \d\.\d+$/),
      expect.stringMatching(/^EURUSD \d\.\d+$/),
      expect.stringMatching(/^100 is not below the price of \d+\.\d+\.$/),
    ])
  })
})

const shapeOf = (value: Json): Json => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, shapeOf(inner as Json)]),
  )
}

it('GET / links to the console, the reference, the README and the health checks, which are all there', async () => {
  const links = (await (await fetch(api)).text()).matchAll(/href="([^"]+)"/g)
  const paths = Array.from(links, ([, path = '']) => path)
  expect(paths).toEqual(['/console', '/docs', '/readme', '/healthz', '/readyz'])
  for (const path of paths) expect([path, (await fetch(api + path)).status]).toEqual([path, 200])
  expect(await (await fetch(`${api}/readme`)).text()).toBe(await read('README.md'))
})

it('GET /docs shows the API’s document by scripts of the service alone, on the public listener', async () => {
  const { headers, body: page } = await request(`${api}/docs`)
  const policy = headers.get('content-security-policy')?.split('; ') ?? []
  for (const part of ["default-src 'none'", "connect-src 'self'", "script-src 'self'"])
    expect(policy).toContain(part)
  expect(policy.join()).not.toMatch(/https?:|\*|unsafe-eval|script-src[^,]*unsafe/)
  expect(headers.get('cache-control')).toBe('public, max-age=60')
  const named = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url)
  expect(named).toEqual([
    'data:,',
    expect.stringMatching(/^\/docs\/viewer-\d+\.\d+\.\d+\.js$/),
    expect.stringMatching(/^\/docs\/start-[0-9a-f]{16}\.js$/),
  ])
  // The policy allows no script in the page.
  expect(page).not.toMatch(/https?:|\/\/|<script(?! src="[^"]+"><\/script>)/)
  const [viewer = '', start = ''] = await Promise.all(
    named.slice(1).map(async (path) => {
      const script = await fetch(`${api}${path}`)
      expect(script.headers.get('content-encoding')).toBe('gzip')
      expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      return script.text()
    }),
  )
  // Whole: nothing is loaded piece by piece from beside it.
  expect(viewer).toContain('createApiReference')
  expect(viewer).not.toMatch(/\bfrom\s*["']\.\//)
  expect(start).not.toMatch(/https?:/)
  const settings = JSON.parse(/'#reference', (.*)\)\n$/.exec(start)?.[1] ?? '')
  expect(settings).toMatchObject({
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    persistAuth: false,
  })
  expect((await request(`${api}${settings.url}`)).body).toMatchObject({
    openapi: '3.1.0',
  })
  for (const url of [`${api}/docs/package.json`, `${(await demo.listening).operator}/docs`])
    expect((await request(url)).status).toBe(404)
})

const secrets = {
  OPERATOR_TOKEN: 'operator-token-of-32-characters!',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  POSTGRES_PASSWORD: '0123456789abcdef',
}
const interpolation = /\$\{(\w+)(:[-?])([^}]*)\}/g
/** As compose fills a value in; a variable that is required and absent stays as it is. */
const fill = (value: unknown) =>
  String(value).replaceAll(
    interpolation,
    (whole, name: keyof typeof secrets, how: string, fallback: string) =>
      secrets[name] ?? (how === ':-' ? fallback : whole),
  )

describe('compose.yaml', () => {
  let text: string
  let compose: Json
  let proxy: string
  let environment: Record<string, string>
  beforeAll(async () => {
    text = await read('compose.yaml')
    compose = parse(text, { merge: true })
    proxy = compose.configs.proxy.content
    environment = Object.fromEntries(
      Object.entries(compose.services['api-1'].environment).map(([name, value]) => [
        name,
        fill(value),
      ]),
    )
  })

  it('gives both instances one environment that the service accepts whole, with no default for a secret', async () => {
    expect(compose.services['api-2']).toEqual(compose.services['api-1'])
    const right = {
      api: { host: '0.0.0.0', port: 3000 },
      databaseUrl: expect.stringMatching(/^postgres:/),
      redisUrl: expect.stringMatching(/^redis:/),
      broker: 'metaapi',
    }
    expect(readConfig(environment, '/data')).toMatchObject({ right: { ...right, warnings: [] } })
    for (const name of Object.keys(environment)) expect(variables).toHaveProperty(name)
    const uses = [...text.matchAll(interpolation)].filter(([, name = '']) => name in secrets)
    expect(new Set(uses.map(([, name]) => name))).toEqual(new Set(Object.keys(secrets)))
    for (const [, name, how] of uses) expect(how, name).toBe(':?')
  })

  it('publishes only the proxy, which alternates between the ready instances and sees an end in time', () => {
    expect(
      Object.keys(compose.services).filter((name) => compose.services[name].ports !== undefined),
    ).toEqual(['proxy'])
    expect(environment).toMatchObject({
      OPERATOR_HOST: '127.0.0.1',
      TRUST_PROXY: compose.networks.default.ipam.config[0].subnet,
    })
    expect(proxy).toContain(`handle ${apiPrefix.split('/').slice(0, 2).join('/')}/*`)
    expect(proxy).toContain(
      `reverse_proxy api-1:${environment['PORT']} api-2:${environment['PORT']} {`,
    )
    expect(proxy).toContain('lb_policy round_robin')
    expect(/health_uri (\S+)/.exec(proxy)?.[1]).toBe('/readyz')
    const config = readConfig(environment, '/data')
    if (config._tag === 'Left') return expect.fail(config.left.join())
    const [everyMs, fails] = [
      1_000 * Number(/health_interval (\d+)s/.exec(proxy)?.[1]),
      Number(/health_fails (\d+)/.exec(proxy)?.[1]),
    ]
    expect(config.right.drainDelayMs).toBeGreaterThan(fails * everyMs)
    expect(
      1_000 * Number.parseInt(compose.services['api-1'].stop_grace_period, 10),
    ).toBeGreaterThan(config.right.drainTimeoutMs)
  })
})
