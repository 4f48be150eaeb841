// The domain's purity, the ways of writing, and the manifests: each rule broken once.
import { describe, expect, it } from 'vitest'
import { declaredIsUsed, exactVersions, importsAreDeclared } from '../src/rules/dependencies.ts'
import { domainDependsOnLittle, domainIsPure } from '../src/rules/domain-purity.ts'
import { environmentInOnePlace } from '../src/rules/environment.ts'
import {
  beginsWithComment,
  everyFileParses,
  everyPackageHasAReadme,
  kebabCase,
  maxSourceLines,
  noIndexFiles,
  noLonelyFiles,
  smallFiles,
} from '../src/rules/file-shape.ts'
import { fpTsByFile, relativeImportsEndInTs } from '../src/rules/import-style.ts'
import { noModuleMocks, noOnly } from '../src/rules/test-habits.ts'
import { advice, faults, tree } from './tree.ts'

const noun = 'packages/domain/src/trades/fold.ts'

describe('the domain', () => {
  it.each([
    'Date.now()',
    'const clock = { now: Date.now }',
    'new Date()',
    'Date()',
    'performance.now()',
    'Math.random()',
    'crypto.randomUUID()',
    'setTimeout(f, 1)',
    'promisify(setTimeout)',
    'setInterval(f, 1)',
    'setImmediate(f)',
    'process.hrtime()',
    'console.log(1)',
    'globalThis.setTimeout(f, 1)',
    "fetch('https://example.com')",
  ])('has no %s', (text) => {
    expect(faults(domainIsPure, { [noun]: `// Why.\n${text}` })).toEqual([`${noun}:2`])
  })

  it.each(['new Date(0)', 'Date.parse(text)', 'Date.UTC(2026, 0)', 'Math.floor(1.5)', 'deal.process', 'const console = 1'])(
    'may have %s',
    (text) => {
      expect(faults(domainIsPure, { [noun]: text })).toEqual([])
    },
  )

  it('alone is bound so', () => {
    expect(faults(domainIsPure, { 'packages/memory/src/clock.ts': 'Date.now()' })).toEqual([])
  })

  it('tells process.env.HOME once', () => {
    expect(faults(domainIsPure, { [noun]: 'process.env.HOME' })).toHaveLength(1)
  })

  it('imports no Node API but node:crypto, and that in one file', () => {
    const files = {
      'packages/domain/src/webhooks/signature.ts': "import { createHmac } from 'node:crypto'",
      'packages/domain/src/webhooks/verify.ts': "import { timingSafeEqual } from 'node:crypto'",
      'packages/domain/src/webhooks/read.ts': "import { readFileSync } from 'node:fs'",
    }
    expect(faults(domainDependsOnLittle, files).toSorted()).toEqual([
      'packages/domain/src/webhooks/read.ts:1',
      'packages/domain/src/webhooks/verify.ts',
    ])
  })

  it('imports one package beyond fp-ts and io-ts', () => {
    const files = {
      'packages/domain/src/statistics/beta.ts': "import a from '@stdlib/beta'\nimport b from 'fp-ts/lib/Either.js'\nimport c from 'io-ts'",
      'packages/domain/src/statistics/gamma.ts': "import a from '@stdlib/beta'\nimport b from 'lodash/fp'",
    }
    expect(faults(domainDependsOnLittle, files)).toEqual(['packages/domain/src/statistics/gamma.ts:2'])
  })

  it('may use the tools of tests in its testing room alone', () => {
    const text = "import fc from 'fast-check'\nimport { it } from 'vitest'"
    expect(faults(domainDependsOnLittle, { 'packages/domain/src/testing/deals.ts': text })).toEqual([])
    expect(faults(domainDependsOnLittle, { [noun]: text })).toHaveLength(1)
  })
})

describe('the environment', () => {
  const text = "const url = process.env['URL']"

  it.each([
    'apps/api/src/config.ts',
    'apps/api/src/main.ts',
    'packages/sandbox-broker/src/bin.ts',
    'tooling/bench/src/main.ts',
    'apps/api/test/a.test.ts',
  ])('may be read in %s', (path) => {
    expect(faults(environmentInOnePlace, { [path]: text })).toEqual([])
  })

  it.each([text, "import { env } from 'node:process'", 'const { env } = process'])('is not read anywhere else: %s', (read) => {
    expect(faults(environmentInOnePlace, { 'packages/postgres/src/knex.ts': read })).toEqual(['packages/postgres/src/knex.ts:1'])
  })

  it('is not read in two places of the service', () => {
    const files = { 'apps/api/src/config.ts': text, 'apps/api/src/main.ts': text }
    expect(faults(environmentInOnePlace, files)).toEqual(['apps/api/src/main.ts:1'])
  })
})

describe('imports', () => {
  it.each([
    ["import './a.js'", "write './a.ts'"],
    ["import '../b/a'", "write '../b/a.ts'"],
    ["export * from '.'", 'write'],
  ])('end in .ts where they are relative: %s', (text, instead) => {
    expect(advice(relativeImportsEndInTs, { 'packages/http/src/app.ts': text })).toContain(instead)
  })

  it('may end in .ts, and may name what is built', () => {
    const text = "import './a.ts'\nimport '../dist/main.js'\nimport koa from 'koa'"
    expect(faults(relativeImportsEndInTs, { 'packages/http/src/app.ts': text })).toEqual([])
  })

  it.each([
    ['fp-ts/Either', 'fp-ts/lib/Either.js'],
    ['fp-ts/lib/Either', 'fp-ts/lib/Either.js'],
    ['fp-ts/es6/Either.js', 'fp-ts/lib/Either.js'],
    ['fp-ts', 'fp-ts/lib/Either.js'],
    ['io-ts/PathReporter', 'io-ts/lib/PathReporter.js'],
  ])('of %s become %s', (specifier, instead) => {
    expect(advice(fpTsByFile, { 'packages/http/src/app.ts': `import * as X from '${specifier}'` })).toContain(instead)
  })

  it.each(['fp-ts/lib/Either.js', 'io-ts', 'io-ts/lib/PathReporter.js', 'fp-ts-contrib/lib/a.js'])('of %s stay', (specifier) => {
    expect(faults(fpTsByFile, { 'packages/http/src/app.ts': `import * as X from '${specifier}'` })).toEqual([])
  })
})

describe('a source file', () => {
  it('parses', () => {
    expect(faults(everyFileParses, { [noun]: 'const = 1' })).toEqual([noun])
    expect(faults(everyFileParses, { [noun]: 'const a = 1' })).toEqual([])
  })

  it('begins with why it exists', () => {
    expect(faults(beginsWithComment, { [noun]: 'const a = 1' })).toEqual([noun])
    expect(faults(beginsWithComment, { [noun]: '// Why.\nconst a = 1' })).toEqual([])
  })

  it(`has ${maxSourceLines} lines at most`, () => {
    expect(faults(smallFiles, { [noun]: '// a\n'.repeat(maxSourceLines + 1) })).toEqual([noun])
    expect(faults(smallFiles, { [noun]: '// a\n'.repeat(maxSourceLines) })).toEqual([])
  })

  it.each(['foldDeals.ts', 'Fold.ts', 'fold_deals.ts', 'Trades/fold.ts'])('is not called %s', (name) => {
    expect(faults(kebabCase, { [`packages/domain/src/${name}`]: '' })).toHaveLength(1)
  })

  it.each(['fold-deals.ts', 'fold.laws.test.ts', 'sha256.ts', 'use-cases/get-trade.ts'])('may be called %s', (name) => {
    expect(faults(kebabCase, { [`packages/domain/src/${name}`]: '' })).toEqual([])
  })

  it('is an index only as the entry of its package', () => {
    const files = {
      'packages/domain/src/index.ts': '',
      'packages/domain/src/testing/index.ts': '',
      'packages/domain/src/trades/index.ts': '',
      'packages/domain/test/index.ts': '',
    }
    expect(faults(noIndexFiles, files)).toEqual(['packages/domain/src/trades/index.ts', 'packages/domain/test/index.ts'])
  })

  it('is not alone in its folder', () => {
    const files = {
      'packages/http/src/index.ts': '',
      'packages/http/src/routes/one.ts': '',
      'packages/http/src/codecs/a.ts': '',
      'packages/http/src/codecs/b.ts': '',
      'packages/http/src/outer/inner/a.ts': '',
      'packages/http/src/outer/inner/b.ts': '',
      'packages/http/test/fixtures/one.ts': '',
      'packages/domain/src/market/instruments.ts': '',
    }
    expect(faults(noLonelyFiles, files)).toEqual(['packages/http/src/outer', 'packages/http/src/routes'])
  })
})

describe('tests', () => {
  const test = 'packages/http/test/app.test.ts'

  it.each(["vi.mock('./a.ts')", "vi.doMock('./a.ts')"])('have no %s', (text) => {
    expect(faults(noModuleMocks, { [test]: text })).toEqual([`${test}:1`])
  })

  it('may have functions that count their calls', () => {
    expect(faults(noModuleMocks, { [test]: 'vi.fn()' })).toEqual([])
  })

  it.each(["it.only('a', f)", "describe.only('a', f)", "test.only('a', f)", "it.only.each([1])('a', f)"])('have no %s', (text) => {
    expect(faults(noOnly, { [test]: text }).length).toBeGreaterThan(0)
  })
})

const manifest = (fields: object) => JSON.stringify({ name: '@tradeport/http', ...fields })

describe('a package', () => {
  it('has a README', () => {
    expect(faults(everyPackageHasAReadme, { 'packages/http/src/index.ts': '' })).toEqual(['packages/http'])
    expect(faults(everyPackageHasAReadme, { 'packages/http/README.md': '' })).toEqual([])
  })

  it.each(['^3.0.0', '~3.0.0', '3', '3.x', '*', 'latest', 'workspace:^', 'github:a/b'])(
    'does not depend on a version such as %s',
    (version) => {
      const files = { 'packages/http/package.json': manifest({ dependencies: { koa: version } }) }
      expect(faults(exactVersions, files)).toEqual(['packages/http/package.json'])
    },
  )

  it.each(['3.0.0', '1.5.6-r.1', '2.0.0-beta.3', 'workspace:*'])('depends on exact versions such as %s', (version) => {
    expect(faults(exactVersions, { 'packages/http/package.json': manifest({ devDependencies: { koa: version } }) })).toEqual([])
  })

  it('pins what the root declares', () => {
    expect(faults(exactVersions, { 'package.json': JSON.stringify({ name: 'root', optionalDependencies: { turbo: '^2.0.0' } }) })).toEqual([
      'package.json',
    ])
  })

  it('declares what it imports', () => {
    const text = "import koa from 'koa'\nimport router from '@koa/router'\nimport fs from 'node:fs'\nimport './a.ts'"
    const files = { 'packages/http/package.json': manifest({ dependencies: { koa: '3.0.0' } }), 'packages/http/src/app.ts': text }
    expect(faults(importsAreDeclared, files)).toEqual(['packages/http/src/app.ts:2'])
  })

  it('does not run on what it declares for tests alone', () => {
    const files = {
      'package.json': JSON.stringify({ name: 'root', devDependencies: { vitest: '5.0.0' } }),
      'packages/http/package.json': manifest({ devDependencies: { nock: '15.0.0', '@types/koa': '3.0.0' } }),
      'packages/http/src/app.ts': "import nock from 'nock'\nimport { it } from 'vitest'\nimport type { Scope } from 'nock'",
      'packages/http/test/app.test.ts': "import nock from 'nock'\nimport { it } from 'vitest'",
    }
    expect(faults(importsAreDeclared, files)).toEqual(['packages/http/src/app.ts:1', 'packages/http/src/app.ts:2'])
  })

  it('imports what it declares, types going with what they describe', () => {
    const dependencies = { koa: '3.0.0', lodash: '4.0.0', '@koa/router': '15.0.0' }
    const devDependencies = { '@types/koa': '3.0.0', '@types/koa__router': '15.0.0', '@types/lodash': '4.0.0' }
    const files = {
      'packages/http/package.json': manifest({ dependencies, devDependencies }),
      'packages/http/src/app.ts': "import koa from 'koa'\nimport type { Router } from '@koa/router'",
    }
    expect(faults(declaredIsUsed, files)).toHaveLength(2)
    expect(advice(declaredIsUsed, files)).toMatch(/declares lodash,.*\n.*declares @types\/lodash,/)
  })

  it('may declare what a package that it imports loads as a peer', () => {
    const files = {
      'packages/http/package.json': manifest({ dependencies: { knex: '3.0.0', pg: '8.0.0', mysql: '2.0.0' } }),
      'packages/http/src/app.ts': "import knex from 'knex'",
    }
    const found = declaredIsUsed.check(tree(files, (name) => (name === 'knex' ? ['pg'] : [])))
    expect(found.map(({ message }) => message)).toEqual(['declares mysql, which nothing imports; remove it'])
  })
})
