// Runs Stryker over a room of the domain: every mutant of it against the room's own tests that reach it.
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Stryker } from '@stryker-mutator/core'
import { strykerPlugins } from '@stryker-mutator/vitest-runner'
import type { MutantResult } from './mutant.ts'
import { filesOf, roomOf } from './rooms.ts'

export const domain = resolve(import.meta.dirname, '../../../packages/domain')
const reports = resolve(import.meta.dirname, '../.reports')

/**
 * @param target a room, or a file in one
 * @param concurrency how many mutants are tried at once
 * @param afresh whether what the last run found is forgotten; otherwise only mutants are run that it did not meet, or whose tests changed
 */
export const runRoom = async (target: string, concurrency: number, afresh: boolean): Promise<readonly MutantResult[]> => {
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
    incrementalFile: join(reports, `${target.replaceAll(/[/.]/g, '-')}.json`),
    tempDirName: join(reports, `sandbox-of-${process.pid}`),
    ignorePatterns: ['dist', '.reports', '.turbo'],
    reporters: process.stdout.isTTY ? ['progress'] : ['progress-append-only'],
    allowEmpty: false,
    warnings: false,
  }).runMutationTest()
}
