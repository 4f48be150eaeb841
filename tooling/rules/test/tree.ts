// Small made-up repositories for the rules to judge.
import { repositoryOf } from '../src/repository.ts'
import type { Repository } from '../src/repository.ts'
import type { Rule } from '../src/rule.ts'

/**
 * A repository of the given files. A package whose manifest is not given gets one that names it `@tradeport/<folder>`; nothing else is added.
 */
export const tree = (files: Readonly<Record<string, string>>, peersOf?: Repository['peersOf']): Repository => {
  const folders = [...new Set(Object.keys(files).flatMap((path) => /^[^/]+\/[^/]+(?=\/)/.exec(path) ?? []))]
  const manifests = folders.map((folder): [string, string] => [
    `${folder}/package.json`,
    JSON.stringify({ name: `@tradeport/${folder.split('/')[1] ?? ''}` }),
  ])
  return repositoryOf(new Map([...manifests, ...Object.entries(files)]), peersOf)
}

/** Where the rule finds the tree at fault. */
export const faults = (rule: Rule, files: Readonly<Record<string, string>>): readonly string[] =>
  rule.check(tree(files)).map(({ where }) => where)

/** The one message that the rule has for the tree. */
export const advice = (rule: Rule, files: Readonly<Record<string, string>>): string =>
  rule
    .check(tree(files))
    .map(({ message }) => message)
    .join('\n')
