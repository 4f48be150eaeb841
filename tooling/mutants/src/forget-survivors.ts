// What of the last run is not taken as settled: Stryker tries a mutant again when the tests that reach it change, but of what is made when a module is
// loaded, such as a pattern, it does not know which tests those are.
import type { Equivalent } from './equivalents.ts'
import { isSameMutant, mutantOf } from './mutant.ts'
import type { MutantResult } from './mutant.ts'

interface Report {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly Pick<MutantResult, 'status' | 'location' | 'replacement'>[] }>
  >
}

/** The report without the mutants that no test found, which are then new to the next run; those that the page lists stay. */
export const withoutSurvivors = <R extends Report>(report: R, equivalents: readonly Equivalent[]): R => ({
  ...report,
  files: Object.fromEntries(
    Object.entries(report.files).map(([path, file]) => [
      path,
      {
        ...file,
        mutants: file.mutants.filter(({ status, location, replacement }) => {
          if (status !== 'Survived' && status !== 'NoCoverage') return true
          const mutant = mutantOf({ fileName: `/${path}`, location, replacement }, file.source)
          return equivalents.some((equivalent) => isSameMutant(equivalent, mutant))
        }),
      },
    ]),
  ),
})
