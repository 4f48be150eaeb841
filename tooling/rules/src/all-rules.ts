// Every rule of the repository, in the order in which they are told.
import type { Rule } from './rule.ts'
import { noCycles } from './rules/cycles.ts'
import { declaredIsUsed, exactVersions, importsAreDeclared } from './rules/dependencies.ts'
import { domainDependsOnLittle, domainIsPure } from './rules/domain-purity.ts'
import { environmentInOnePlace } from './rules/environment.ts'
import {
  beginsWithComment,
  everyFileParses,
  everyPackageHasAReadme,
  kebabCase,
  noIndexFiles,
  noLonelyFiles,
  smallFiles,
} from './rules/file-shape.ts'
import { fpTsByFile, relativeImportsEndInTs } from './rules/import-style.ts'
import { everyPackageHasItsPlace, packageArrows, packagesByName, testingStaysInTests } from './rules/package-arrows.ts'
import { roomArrows, verbsStandAlone } from './rules/room-arrows.ts'
import { noModuleMocks, noOnly } from './rules/test-habits.ts'

export const allRules: readonly Rule[] = [
  everyPackageHasItsPlace,
  packageArrows,
  packagesByName,
  testingStaysInTests,
  roomArrows,
  verbsStandAlone,
  noCycles,
  domainIsPure,
  domainDependsOnLittle,
  environmentInOnePlace,
  relativeImportsEndInTs,
  fpTsByFile,
  everyFileParses,
  beginsWithComment,
  smallFiles,
  kebabCase,
  noIndexFiles,
  noLonelyFiles,
  everyPackageHasAReadme,
  noModuleMocks,
  noOnly,
  exactVersions,
  importsAreDeclared,
  declaredIsUsed,
]
