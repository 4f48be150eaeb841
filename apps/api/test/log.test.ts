// No secret gets into a line of the log, wherever it stands in what is logged.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLog } from '../src/log.ts'

const lineOf = (log: (to: ReturnType<typeof createLog>) => void) => {
  let lines = ''
  log(createLog('trace', { write: (line) => (lines += line) }))
  return lines
}

/**
 * Errors as drivers, clients and careless code make them, with the secret in every place that can
 * hold one.
 */
const errorWith = (text: string): fc.Arbitrary<Error> =>
  fc
    .record({
      message: fc.constantFrom(
        text,
        `insert into "api_keys" ("hash") values ('${text}') - duplicate key value violates unique constraint "api_keys_hash_key"`,
        `first line\n    at ${text}\n    at place (${text})\nlast line`,
        `Unexpected token 'x', "${text}" is not valid JSON`,
      ),
      kind: fc.constantFrom(Error, TypeError),
      isRewritten: fc.boolean(),
      isNested: fc.boolean(),
    })
    .map(({ message, kind, isRewritten, isNested }) => {
      const cause = Object.assign(new Error(message), {
        detail: `Key (hash)=(${text}) already exists.`,
      })
      const error = Object.assign(
        isNested ? new AggregateError([cause], message, { cause }) : new kind(message, { cause }),
        {
          where: text,
          parameters: [text],
          config: { headers: { authorization: `Bearer ${text}` } },
          [text]: text,
        },
      )
      // As knex does: the statement comes before a message whose stack, made when it is first
      // read, does not have it.
      if (isRewritten && error.stack !== undefined)
        error.message = `select '${text}' - ${error.message}`
      return error
    })

const names = [
  'providerToken',
  'OPERATOR_TOKEN',
  'api_key',
  'X-API-Key',
  'Authorization',
  'Set-Cookie',
  'clientSecret',
  'SECRETS_KEY',
  'password',
  'DATABASE_URL',
  'smtpUrl',
  'apiKeys',
  'ACCESS_TOKENS',
]
const fieldsWith = (text: string): fc.Arbitrary<object> => {
  const held = fc
    .tuple(fc.constantFrom(...names), fc.constantFrom<unknown>(text, [text], { value: text }))
    .map(([name, value]) => ({ [name]: value }))
  const fields = fc.oneof(
    held,
    errorWith(text).map((err) => ({ err })),
    errorWith(text).map((failure) => ({ failure })),
  )
  return fc.tuple(fields, fc.nat({ max: 7 }), fc.boolean()).map(([inner, depth, isList]) => {
    let nested: object = inner
    for (let level = 0; level < depth; level += 1)
      nested = isList ? { list: [nested] } : { inner: nested }
    return nested
  })
}

describe('a line of the log', () => {
  it('holds nothing of an error but its kind, code and places, and nothing that has the name of a secret', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{16,24}$/)
    fc.assert(
      fc.property(
        secret.chain((text) => fc.tuple(fc.constant(text), fieldsWith(text), errorWith(text))),
        ([text, fields, error]) => {
          const line = lineOf((log) => log.error(fields, 'it failed'))
          expect(JSON.parse(line)).toMatchObject({ level: 50, msg: 'it failed' })
          return !`${line}${lineOf((log) => [log.error(error), log.error({ err: error })])}`.includes(
            text,
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  it('holds no API key, whatever it stands in, and everything else as it is', () => {
    const key = 'tp_live_abc-DEF_123'
    const line = lineOf((log) =>
      log.warn({ reason: `got ${key}`, list: [key], [key]: 1 }, `of ${key}, %s`, key),
    )
    expect(line).not.toContain('abc-DEF')
    expect(JSON.parse(line)).toMatchObject({
      reason: 'got tp_live_[redacted]',
      msg: 'of tp_live_[redacted], tp_live_[redacted]',
    })
    const fields = {
      event: 'x',
      owner: { tenantId: 'acme' },
      until: 1.5,
      list: ['a', null, true],
      requestId: 'req_1',
      keyCount: 2,
    }
    expect(JSON.parse(lineOf((log) => log.info(fields, 'so it is')))).toMatchObject({
      ...fields,
      msg: 'so it is',
    })
    const cause = Object.assign(new TypeError('inner'), { code: 'ECONNRESET' })
    const { err } = JSON.parse(
      lineOf((log) => log.error({ err: new Error('outer', { cause }) }, 'it failed')),
    )
    expect(err).toMatchObject({
      type: 'Error',
      cause: { type: 'TypeError', code: 'ECONNRESET' },
      stack: expect.arrayContaining([expect.stringMatching(/log\.test\.ts:\d+/)]),
    })
  })
})

it.each(['setTimeout(() => { throw error })', 'Promise.reject(error)'])(
  'an error that nobody caught ends the process with a line that holds nothing of it: %s',
  async (way) => {
    const program = `import { createLog, endWhenUncaught } from ${JSON.stringify(resolve(import.meta.dirname, '../src/log.ts'))}
  const error = Object.assign(new Error('se-cret'), { detail: 'se-cret' })
  endWhenUncaught(createLog('info')); ${way}; setInterval(() => {}, 1000)`
    const options = [
      '--conditions=@tradeport/source',
      '--experimental-strip-types',
      '--no-warnings',
      '--input-type=module',
    ]
    const child = spawn(process.execPath, [...options, '-e', program])
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    expect(await once(child, 'close')).toEqual([1, null])
    expect(printed).toContain('"type":"Error"')
    expect(printed).not.toContain('se-cret')
  },
)
