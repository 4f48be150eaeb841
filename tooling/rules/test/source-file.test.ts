// What the rules see of a file. An import that is overlooked here is an arrow that nobody checks.
import { describe, expect, it } from 'vitest'
import { parseSourceFile } from '../src/source-file.ts'

const importsOf = (text: string) => parseSourceFile('a.ts', text).imports.map(({ specifier, isType }) => [specifier, isType])
const usesOf = (text: string) => parseSourceFile('a.ts', text).uses.map(({ kind, name }) => `${kind} ${name}`)

describe('imports', () => {
  it.each([
    ["import { a } from './a.ts'", './a.ts', false],
    ["import './a.ts'", './a.ts', false],
    ["import * as a from './a.ts'", './a.ts', false],
    ["import { type A, b } from './a.ts'", './a.ts', false],
    ["import { type A } from './a.ts'", './a.ts', true],
    ["import type { A } from './a.ts'", './a.ts', true],
    ["export * from './a.ts'", './a.ts', false],
    ["export { a } from './a.ts'", './a.ts', false],
    ["export type { A } from './a.ts'", './a.ts', true],
    ["const a = await import('./a.ts')", './a.ts', false],
    ["let a: import('./a.ts').A", './a.ts', true],
    ["const path = import.meta.resolve('./a.ts')", './a.ts', false],
  ])('are seen in %s', (text, specifier, isType) => {
    expect(importsOf(text)).toEqual([[specifier, isType]])
  })

  it('are told with their line', () => {
    expect(
      parseSourceFile('a.ts', "// one\n\nimport { a } from './a.ts'\nexport * from './b.ts'\n").imports.map(({ line }) => line),
    ).toEqual([3, 4])
  })

  it('are not seen in text and comments', () => {
    expect(importsOf("// import './a.ts'\nconst a = \"import './a.ts'\"")).toEqual([])
  })
})

describe('uses', () => {
  it.each([
    ['Date.now()', 'read Date.now'],
    ["Date['now']()", 'read Date.now'],
    ['globalThis.process.env', 'read process.env'],
    ['setTimeout(f, 1)', 'call setTimeout'],
    ['wrap(setTimeout)', 'read setTimeout'],
    ['const env = process', 'read process'],
    ['new Date()', 'new Date'],
  ])('are seen in %s', (text, use) => {
    expect(usesOf(text)).toContain(use)
  })
})

describe('a file', () => {
  it.each(['// Why.\n', '/* Why. */\n', '#!/usr/bin/env node\n// Why.\n'])('begins with a comment in %j', (text) => {
    expect(parseSourceFile('a.ts', text).beginsWithComment).toBe(true)
  })

  it.each(['const a = 1 // Why.\n', '\n// Why.\n', ''])('does not begin with a comment in %j', (text) => {
    expect(parseSourceFile('a.ts', text).beginsWithComment).toBe(false)
  })

  it('has as many lines as an editor shows', () => {
    expect(parseSourceFile('a.ts', '// a\n// b\n').lines).toBe(2)
  })

  it('that does not parse says so', () => {
    expect(parseSourceFile('a.ts', 'const = ').errors).not.toEqual([])
  })
})
