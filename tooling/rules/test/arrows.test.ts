// Arrows between packages, between rooms, and circles among files: each broken once.
import { describe, expect, it } from 'vitest'
import { noCycles } from '../src/rules/cycles.ts'
import { everyPackageHasItsPlace, packageArrows, packagesByName, testingStaysInTests } from '../src/rules/package-arrows.ts'
import { roomArrows, verbsStandAlone } from '../src/rules/room-arrows.ts'
import { advice, faults } from './tree.ts'

const packages = {
  'packages/domain/src/index.ts': '',
  'packages/http/src/index.ts': '',
  'packages/memory/src/index.ts': '',
  'packages/sandbox-broker/src/index.ts': '',
  'packages/testkit/src/index.ts': '',
  'apps/api/src/main.ts': '',
  'tooling/bench/src/main.ts': '',
  'tooling/rules/src/main.ts': '',
}

const importing = (path: string, name: string) => ({ ...packages, [path]: `import { x } from '@tradeport/${name}'` })

describe('arrows between packages', () => {
  it.each([
    ['packages/http/src/app.ts', 'domain'],
    ['packages/http/test/app.test.ts', 'domain'],
    ['packages/http/test/app.test.ts', 'sandbox-broker'],
    ['packages/http/test/app.test.ts', 'testkit'],
    ['tooling/bench/src/fold.ts', 'testkit'],
    ['apps/api/src/compose.ts', 'http'],
    ['apps/api/src/compose.ts', 'sandbox-broker'],
    ['tooling/bench/src/fold.ts', 'api'],
    ['packages/http/src/app.ts', 'http'],
  ])('let %s import %s', (path, name) => {
    expect(faults(packageArrows, importing(path, name))).toEqual([])
  })

  it.each([
    ['packages/domain/src/trades/fold.ts', 'memory'],
    ['packages/domain/test/fold.test.ts', 'memory'],
    ['packages/http/src/app.ts', 'memory'],
    ['packages/http/test/app.test.ts', 'memory'],
    ['packages/http/src/app.ts', 'sandbox-broker'],
    ['packages/http/src/app.ts', 'api'],
    ['packages/http/src/app.ts', 'testkit'],
    ['packages/sandbox-broker/src/sandbox.ts', 'domain'],
    ['packages/sandbox-broker/test/sandbox.test.ts', 'domain'],
    ['apps/api/src/main.ts', 'rules'],
    ['tooling/bench/src/main.ts', 'rules'],
  ])('refuse that %s imports %s', (path, name) => {
    expect(faults(packageArrows, importing(path, name))).toEqual([`${path}:1`])
  })

  it('count a type, a re-export and an import in the middle of the code', () => {
    const text = "import type { A } from '@tradeport/memory'\nexport * from '@tradeport/memory'\nawait import('@tradeport/memory')"
    expect(faults(packageArrows, { ...packages, 'packages/http/src/app.ts': text })).toHaveLength(3)
  })

  it('say what to do instead', () => {
    expect(advice(packageArrows, importing('packages/http/src/app.ts', 'memory'))).toContain('take what it needs as a port')
  })

  it('refuse a package that the layout does not know', () => {
    expect(faults(everyPackageHasItsPlace, { ...packages, 'packages/helpers/src/index.ts': '' })).toEqual(['packages/helpers'])
  })

  it('refuse a path into another package', () => {
    const files = { ...packages, 'packages/http/src/app.ts': "import '../../memory/src/index.ts'\nimport './index.ts'" }
    expect(faults(packagesByName, files)).toEqual(['packages/http/src/app.ts:1'])
  })

  it.each(['domain/testing', 'testkit'])('refuse %s outside tests', (equipment) => {
    const text = `import { x } from '@tradeport/${equipment}'`
    const files = {
      ...packages,
      'packages/http/src/app.ts': text,
      'packages/http/test/app.test.ts': text,
      'tooling/bench/src/main.ts': text,
    }
    expect(faults(testingStaysInTests, files)).toEqual(['packages/http/src/app.ts:1'])
  })
})

const inDomain = (path: string, target: string, clause = '{ x }') => ({
  [`packages/domain/src/${path}`]: `import ${clause} from '${'../'.repeat(path.split('/').length - 1) || './'}${target}'`,
})

describe('arrows between rooms', () => {
  it.each([
    ['errors.ts', 'primitives/ids.ts'],
    ['trades/trade.ts', 'primitives/ids.ts'],
    ['trades/trade.ts', 'errors.ts'],
    ['trades/trade.ts', 'trades/deal.ts'],
    ['statistics/drawdown.ts', 'trades/trade.ts'],
    ['operator/apply.ts', 'accounts/account.ts'],
    ['ports/broker.ts', 'positions/position.ts'],
    ['ports/operator-store.ts', 'operator/records.ts'],
    ['use-cases/list-trades.ts', 'ports/broker.ts'],
    ['testing/fake-broker.ts', 'use-cases/list-trades.ts'],
    ['index.ts', 'use-cases/list-trades.ts'],
  ])('let %s import %s', (path, target) => {
    expect(faults(roomArrows, inDomain(path, target))).toEqual([])
  })

  it.each([
    ['primitives/ids.ts', 'errors.ts'],
    ['errors.ts', 'trades/trade.ts'],
    ['trades/trade.ts', 'ports/broker.ts'],
    ['trades/trade.ts', 'statistics/drawdown.ts'],
    ['accounts/account.ts', 'positions/position.ts'],
    ['accounts/account.ts', 'operator/records.ts'],
    ['operator/apply.ts', 'ports/secrets.ts'],
    ['ports/broker.ts', 'use-cases/list-trades.ts'],
    ['use-cases/list-trades.ts', 'testing/fake-broker.ts'],
    ['trades/trade.ts', 'index.ts'],
    ['trades/trade.ts', 'helpers/text.ts'],
    ['helpers/text.ts', 'primitives/ids.ts'],
  ])('refuse that %s imports %s', (path, target) => {
    expect(faults(roomArrows, inDomain(path, target))).toEqual([`packages/domain/src/${path}:1`])
  })

  it('count types', () => {
    expect(faults(roomArrows, { 'packages/domain/src/trades/a.ts': "import type { A } from '../ports/broker.ts'" })).toHaveLength(1)
  })

  it('do not bind other packages', () => {
    expect(faults(roomArrows, { 'packages/http/src/errors.ts': "import { x } from './ports/broker.ts'" })).toEqual([])
  })
})

const verb = (statement: string, path = 'use-cases/get-trade.ts') => ({ [`packages/domain/src/${path}`]: statement })

describe('verbs', () => {
  it('do not call verbs', () => {
    expect(faults(verbsStandAlone, verb("import { listTrades } from './list-trades.ts'"))).toHaveLength(1)
  })

  it('are not called by steps', () => {
    expect(faults(verbsStandAlone, verb("import { x } from '../list-trades.ts'", 'use-cases/steps/read.ts'))).toHaveLength(1)
  })

  it('call steps, and may share a type', () => {
    const text = "import { read } from './steps/read.ts'\nimport type { View } from './list-trades.ts'"
    expect(faults(verbsStandAlone, verb(text))).toEqual([])
  })
})

describe('circles', () => {
  it('are found over several files, types included', () => {
    const files = {
      'packages/http/src/a.ts': "import './b.ts'",
      'packages/http/src/b.ts': "import type { C } from './c.ts'",
      'packages/http/src/c.ts': "export * from './a.ts'",
    }
    expect(advice(noCycles, files)).toContain(
      'packages/http/src/a.ts → packages/http/src/b.ts → packages/http/src/c.ts → packages/http/src/a.ts',
    )
  })

  it('are found in a file that imports itself', () => {
    expect(faults(noCycles, { 'packages/http/src/a.ts': "import './a.ts'" })).toHaveLength(1)
  })

  it('are not seen where two ways lead to one file', () => {
    const files = {
      'packages/http/src/a.ts': "import './b.ts'\nimport './c.ts'",
      'packages/http/src/b.ts': "import './d.ts'",
      'packages/http/src/c.ts': "import './d.ts'",
      'packages/http/src/d.ts': '',
    }
    expect(faults(noCycles, files)).toEqual([])
  })
})
