// The rules, run on the repository as it stands.
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allRules } from '../src/all-rules.ts'
import { readRepository } from '../src/read-tree.ts'

describe('the repository', () => {
  const repository = readRepository(resolve(import.meta.dirname, '../../..'))

  it('is read whole: no rule passes for want of files', () => {
    expect(repository.packages.map(({ folder }) => folder)).toEqual(
      expect.arrayContaining(['apps/api', 'packages/domain', 'tooling/rules']),
    )
    expect(repository.packages.flatMap(({ sources }) => sources).length).toBeGreaterThan(100)
  })

  for (const { name, check } of allRules) {
    it(name, () => {
      expect(check(repository).map(({ where, message }) => `${where} ${message}`)).toEqual([])
    })
  }
})
