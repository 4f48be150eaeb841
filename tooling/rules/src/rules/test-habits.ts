// What no test may do: replace a module behind the code's back, or silence the other tests.
import { at } from '../repository.ts'
import type { Rule } from '../rule.ts'

const mocks = ['vi.mock', 'vi.doMock', 'vi.hoisted']
const silencers = ['it.only', 'test.only', 'describe.only', 'suite.only']

export const noModuleMocks: Rule = {
  name: 'mocks no module',
  check: ({ packages }) => usesOf(packages, (name) => mocks.includes(name), 'pass a fake that implements the port'),
}

export const noOnly: Rule = {
  name: 'leaves no test singled out',
  check: ({ packages }) => usesOf(packages, (name) => silencers.some((one) => name === one || name.startsWith(`${one}.`)), 'remove .only'),
}

const usesOf = (packages: Parameters<Rule['check']>[0]['packages'], isMeant: (name: string) => boolean, instead: string) =>
  packages
    .flatMap(({ sources }) => sources)
    .flatMap(({ path, uses }) =>
      uses
        .filter(({ kind, name }) => kind === 'read' && isMeant(name))
        .map(({ name, line }) => ({ where: at(path, line), message: `uses ${name}; ${instead}` })),
    )
