// Runs Stryker over a room of the domain: every mutant of it against the room's own tests that reach it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Stryker } from '@stryker-mutator/core'
import { strykerPlugins } from '@stryker-mutator/vitest-runner'
import type { Equivalent } from './equivalents.ts'
import { withoutSurvivors } from './forget-survivors.ts'
import type { MutantResult } from './mutant.ts'
import { filesOf, roomOf } from './rooms.ts'

export const domain = resolve(import.meta.dirname, '../../../packages/domain')
const reports = resolve(import.meta.dirname, '../.reports')

/**
 * @param target a room, or a file in one
 * @param equivalents survivors that are not tried again
 * @param concurrency how many mutants are tried at once
 * @param afresh whether all that the last run found is forgotten; otherwise mutants are run that it did not meet or did not find, or whose tests changed
 */
export const runRoom = async (
  target: string,
  equivalents: readonly Equivalent[],
  concurrency: number,
  afresh: boolean,
): Promise<readonly MutantResult[]> => {
  const incrementalFile = join(reports, `${target.replaceAll(/[/.]/g, '-')}.json`)
  if (existsSync(incrementalFile)) {
    writeFileSync(incrementalFile, JSON.stringify(withoutSurvivors(JSON.parse(readFileSync(incrementalFile, 'utf8')), equivalents)))
  }
  process.chdir(domain)
  // The processes that run the tests inherit it.
  process.env['MUTANTS_ROOM'] = roomOf(target)
  return new Stryker({
    plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner'))],
    testRunner: strykerPlugins.map(({ name }) => name).join(),
    vitest: { configFile: join(import.meta.dirname, 'room-tests.ts'), related: false },
    mutate: [filesOf(target)],
    coverageAnalysis: 'perTest',
    concurrency,
    incremental: true,
    force: afresh,
    incrementalFile,
    tempDirName: join(reports, `sandbox-of-${process.pid}`),
    ignorePatterns: ['dist', '.reports', '.turbo'],
    reporters: process.stdout.isTTY ? ['progress'] : ['progress-append-only'],
    allowEmpty: false,
    warnings: false,
  }).runMutationTest()
}
