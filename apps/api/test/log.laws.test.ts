// No secret gets into a line of the log, wherever it stands in what is logged.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLog } from '../src/log.ts'

const lineOf = (log: (to: ReturnType<typeof createLog>) => void): string => {
  let lines = ''
  log(createLog('trace', { write: (line) => (lines += line) }))
  return lines
}

const secret = fc.stringMatching(/^[A-Za-z0-9]{16,24}$/)
const message = (text: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    text,
    `insert into "api_keys" ("hash") values ('${text}') - duplicate key value violates unique constraint "api_keys_hash_key"`,
    `Headers.append: "${text}" is an invalid header value.`,
    `first line\n    at ${text}\n    at place (${text})\nlast line`,
    `Unexpected token 'x', "${text}" is not valid JSON`,
  )

/** Errors as drivers, clients and careless hands make them, with the secret in every place that can hold one. */
const errorWith = (text: string): fc.Arbitrary<Error> =>
  fc
    .record({
      message: message(text),
      kind: fc.constantFrom(Error, TypeError, RangeError),
      isMeddledWith: fc.boolean(),
      isNested: fc.boolean(),
    })
    .map(({ message, kind, isMeddledWith, isNested }) => {
      const cause = Object.assign(new Error(message), { detail: `Key (hash)=(${text}) already exists.` })
      const error = Object.assign(isNested ? new AggregateError([cause], message, { cause }) : new kind(message, { cause }), {
        detail: text,
        where: text,
        parameters: [text],
        config: { headers: { authorization: `Bearer ${text}` } },
        [text]: text,
      })
      // As knex does: the statement comes before a message whose stack was taken without it.
      if (isMeddledWith) error.message = `select '${text}' - ${error.message}`
      return error
    })

const fieldsWith = (text: string): fc.Arbitrary<object> => {
  const error = errorWith(text)
  const name = fc.constantFrom(
    'token',
    'providerToken',
    'OPERATOR_TOKEN',
    'apiKey',
    'api_key',
    'X-API-Key',
    'auth-token',
    'Authorization',
    'cookie',
    'Set-Cookie',
    'secret',
    'clientSecret',
    'SECRETS_KEY',
    'password',
    'DATABASE_URL',
    'smtpUrl',
  )
  const held = fc.tuple(name, fc.constantFrom<unknown>(text, [text], { value: text }, 7)).map(([key, value]) => ({ [key]: value }))
  return fc
    .tuple(
      fc.oneof(
        held,
        error.map((err) => ({ err })),
        error.map((failure) => ({ failure, of: 'name' })),
      ),
      fc.nat({ max: 7 }),
      fc.boolean(),
    )
    .map(([fields, depth, isList]) => {
      let nested: object = fields
      for (let level = 0; level < depth; level += 1) nested = isList ? { list: [nested] } : { inner: nested }
      return nested
    })
}

describe('a line of the log', () => {
  it('holds nothing of an error but its kind, its code and its places, and nothing that goes by the name of a secret', () => {
    fc.assert(
      fc.property(
        secret.chain((text) => fc.tuple(fc.constant(text), fieldsWith(text))),
        ([text, fields]) => {
          const line = lineOf((log) => log.error(fields, 'it failed'))
          expect(JSON.parse(line)).toMatchObject({ level: 50, msg: 'it failed' })
          return !line.includes(text)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('takes no words from an error that is logged without any', () => {
    fc.assert(
      fc.property(
        secret.chain((text) => fc.tuple(fc.constant(text), errorWith(text))),
        ([text, error]) => !lineOf((log) => [log.error(error), log.error({ err: error }), log.error(error, undefined)]).includes(text),
      ),
    )
  })

  it('holds no API key, whatever it stands in', () => {
    const key = 'tp_live_abc-DEF_123'
    const line = lineOf((log) => log.warn({ reason: `got ${key}`, list: [key], [key]: 1 }, `of ${key}, %s`, key))
    expect(line).not.toContain('abc-DEF')
    expect(JSON.parse(line)).toMatchObject({ reason: 'got tp_live_[redacted]', msg: 'of tp_live_[redacted], tp_live_[redacted]' })
  })

  it('tells where an error came from, and of what kind it and its cause are', () => {
    const cause = Object.assign(new TypeError('inner'), { code: 'ECONNRESET' })
    const { err } = JSON.parse(lineOf((log) => log.error({ err: new Error('outer', { cause }) }, 'it failed')))
    expect(err).toMatchObject({ type: 'Error', cause: { type: 'TypeError', code: 'ECONNRESET' } })
    expect(err.stack[0]).toMatch(/^at .*log\.laws\.test\.ts:\d+:\d+\)?$/)
  })

  it('tells everything else as it is', () => {
    const fields = {
      event: 'x',
      owner: { tenantId: 'acme', userId: 'u-1' },
      until: 1.5,
      list: ['a', null, true],
      requestId: 'req_1',
      keyCount: 2,
    }
    expect(JSON.parse(lineOf((log) => log.info(fields, 'so it is')))).toMatchObject({ ...fields, msg: 'so it is' })
  })
})

describe('an error that nobody caught', () => {
  it.each(['setTimeout(() => { throw error })', 'Promise.reject(error)'])(
    'ends the process with a line that holds nothing of it: %s',
    async (way) => {
      const program = `import { createLog, endWhenUncaught } from ${JSON.stringify(resolve(import.meta.dirname, '../src/log.ts'))}
      const error = Object.assign(new Error('se-cret'), { detail: 'se-cret' })
      endWhenUncaught(createLog('info')); ${way}; setInterval(() => {}, 1000)`
      const child = spawn(process.execPath, [
        '--conditions=@tradeport/source',
        '--experimental-strip-types',
        '--no-warnings',
        '--input-type=module',
        '-e',
        program,
      ])
      let told = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (told += chunk.toString()))
      const [code] = await once(child, 'close')
      expect(code).toBe(1)
      expect(told).toContain('"type":"Error"')
      expect(told).not.toContain('se-cret')
    },
  )
})
