// The domain is a library without a world: no clock, no chance, no timer, no process, and next to no dependency.
import { at, packageNameOf } from '../repository.ts'
import type { Rule, Violation } from '../rule.ts'
import type { Use } from '../source-file.ts'
import { domainSources } from './domain-sources.ts'
import type { DomainSource } from './domain-sources.ts'

export const domainIsPure: Rule = {
  name: 'keeps clocks, chance, timers, the process and the console out of the domain',
  check: (repository) =>
    domainSources(repository).flatMap(({ path, uses }) =>
      uses.flatMap((use) => {
        const instead = replacementOf(use)
        return instead === undefined ? [] : [{ where: at(path, use.line), message: `uses ${use.name}; ${instead}` }]
      }),
    ),
}

export const domainDependsOnLittle: Rule = {
  name: 'lets the domain import fp-ts, io-ts, one package for special functions, and node:crypto in one file',
  check: (repository) => {
    const imports = domainSources(repository).flatMap(importsFromOutside)
    const others = imports.filter(({ name }) => name !== undefined && !['fp-ts', 'io-ts'].includes(name))
    const names = [...new Set(others.map(({ name }) => name))]
    const cryptoFiles = [...new Set(imports.filter(({ specifier }) => specifier === 'node:crypto').map(({ path }) => path))]
    const nodeModules = imports.filter(({ specifier }) => specifier.startsWith('node:') && specifier !== 'node:crypto')
    return [
      ...nodeModules.map(({ path, line, specifier }) => ({
        where: at(path, line),
        message: `imports ${specifier}; the domain has no Node API: declare a port in src/ports`,
      })),
      ...others
        .filter(({ name }) => names.indexOf(name) > 0)
        .map(({ path, line, specifier }) => ({
          where: at(path, line),
          message: `imports ${specifier} besides ${names[0]}; the domain has one package beyond fp-ts and io-ts at most: declare a port instead`,
        })),
      ...cryptoFiles.slice(1).map((path) => ({
        where: path,
        message: `imports node:crypto, as ${cryptoFiles[0]} does; keep it in that one file`,
      })),
    ]
  },
}

interface OutsideImport {
  readonly path: string
  readonly specifier: string
  readonly line: number
  readonly name: string | undefined
}

// The testing room is for tests, and may use their tools.
const importsFromOutside = ({ path, inSrc, imports }: DomainSource): readonly OutsideImport[] =>
  imports
    .filter(({ specifier }) => !specifier.startsWith('.'))
    .filter(({ specifier }) => !(inSrc.startsWith('testing/') && ['vitest', 'fast-check'].includes(specifier)))
    .map(({ specifier, line }) => ({ path, specifier, line, name: packageNameOf(specifier) }))

const replacementOf = ({ kind, name, arguments: count }: Use): Violation['message'] | undefined => {
  const [first = '', ...rest] = name.split('.')
  // `process.env.HOME` is told once, as `process.env`.
  if (rest.length > 1) return undefined
  if (name === 'Date.now' || name === 'performance.now') return 'take the time from the Clock port'
  if (name === 'Date' && kind === 'call') return 'take the time from the Clock port'
  if (name === 'Date' && kind === 'new' && count === 0) return 'take the time from the Clock port'
  if (name === 'Math.random' || first === 'crypto') return 'take chance and ids from a port'
  if (timers.includes(name)) return 'waiting is for the edges: take it from a port'
  if (first === 'process') return 'take what it needs as an argument; the environment is read in apps/api/src/config.ts'
  if (first === 'console') return 'return a value, or take the log as a port'
  if (first === 'fetch') return 'calls leave through a port'
  return undefined
}

const timers = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'scheduler.yield', 'scheduler.wait']
