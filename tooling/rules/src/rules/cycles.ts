// No circle of imports among files, types included: a circle is one file that has not admitted it.
import { resolveFrom } from '../repository.ts'
import type { Rule } from '../rule.ts'

export const noCycles: Rule = {
  name: 'has no circle of imports among files',
  check: ({ packages }) => {
    const sources = packages.flatMap((one) => one.sources)
    const targets = new Map(
      sources.map(({ path, imports }) => [
        path,
        imports.filter(({ specifier }) => specifier.startsWith('.')).map(({ specifier }) => resolveFrom(path, specifier)),
      ]),
    )
    return circles(targets).map((circle) => ({
      where: circle[0] ?? '',
      message: `imports itself in a circle: ${[...circle, circle[0]].join(' → ')}; move what they share into a file that both import`,
    }))
  },
}

// Depth first; every arrow back to a file on the present path closes a circle, and each circle is told once.
const circles = (targets: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] => {
  const found: (readonly string[])[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    if (path.includes(file)) {
      found.push(path.slice(path.indexOf(file)))
      return
    }
    if (done.has(file)) return
    path.push(file)
    for (const target of targets.get(file) ?? []) visit(target)
    path.pop()
    done.add(file)
  }
  for (const file of targets.keys()) visit(file)
  return found
}
