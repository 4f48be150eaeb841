// How specifiers are written, so that the sources run as native ESM, built or not.
import { at } from '../repository.ts'
import type { Rule, Violation } from '../rule.ts'

export const relativeImportsEndInTs: Rule = {
  name: 'ends relative imports in .ts',
  check: ({ packages }) =>
    packages
      .flatMap(({ sources }) => sources)
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ specifier }) => specifier.startsWith('.') && !/\.(ts|json)$/.test(specifier))
          // A package's bin and what is built are reached as they are.
          .filter(({ specifier }) => !specifier.includes('/dist/'))
          .map(({ specifier, line }) => ({
            where: at(path, line),
            message: `imports '${specifier}'; write '${specifier.replace(/\.[cm]?js$/, '')}.ts'`,
          })),
      ),
}

export const fpTsByFile: Rule = {
  name: 'imports fp-ts by file: fp-ts/lib/Either.js',
  check: ({ packages }) =>
    packages
      .flatMap(({ sources }) => sources)
      .flatMap(({ path, imports }) =>
        imports.flatMap(({ specifier, line }): readonly Violation[] => {
          if (specifier === 'fp-ts') {
            return [{ where: at(path, line), message: "imports all of 'fp-ts'; write the file that has it, such as 'fp-ts/lib/Either.js'" }]
          }
          // io-ts keeps its codecs in its entry, which resolves.
          const [, library, file] = /^(fp-ts|io-ts)\/(?:lib\/|es6\/)?(.*)$/.exec(specifier) ?? []
          if (library === undefined || file === undefined || /^(fp-ts|io-ts)\/lib\/.+\.js$/.test(specifier)) return []
          const instead = `${library}/lib/${file.replace(/\.js$/, '')}.js`
          return [{ where: at(path, line), message: `imports '${specifier}', which native ESM does not resolve; write '${instead}'` }]
        }),
      ),
}
