// A parsed TypeScript file: what the rules need to know of it, and nothing of the parser.
import { parseSync, Visitor } from 'oxc-parser'
import type { Node, Program } from 'oxc-parser'

export interface Import {
  readonly specifier: string
  /** Nothing of it is left at run time. */
  readonly isType: boolean
  readonly line: number
}

/** A name that is called, constructed or read: `setTimeout`, `Date`, `process.env`. Dotted names are told as read, also where they are called. */
export interface Use {
  readonly kind: 'call' | 'new' | 'read'
  readonly name: string
  readonly arguments: number
  readonly line: number
}

export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string
  readonly lines: number
  readonly beginsWithComment: boolean
  readonly imports: readonly Import[]
  readonly uses: readonly Use[]
  /** What the parser could not read; a file with errors has no imports to judge. */
  readonly errors: readonly string[]
}

export const parseSourceFile = (path: string, text: string): SourceFile => {
  const { program, module, errors } = parseSync(path, text)
  const lineOf = lineCounter(text)
  const { uses, typeImports, foundFiles } = walk(program, lineOf)
  const staticImports = module.staticImports.map(({ moduleRequest, entries, start }) => ({
    specifier: moduleRequest.value,
    isType: entries.length > 0 && entries.every(({ isType }) => isType),
    line: lineOf(start),
  }))
  const exportedFrom = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, isType, start }) =>
      moduleRequest === null ? [] : [{ specifier: moduleRequest.value, isType, line: lineOf(start) }],
    ),
  )
  const dynamicImports = module.dynamicImports.flatMap(({ moduleRequest }) => {
    const literal = /^['"`](.*)['"`]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))
    return literal?.[1] === undefined ? [] : [{ specifier: literal[1], isType: false, line: lineOf(moduleRequest.start) }]
  })
  return {
    path,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    beginsWithComment: /^(#![^\n]*\n)?\/[/*]/.test(text),
    imports: [...staticImports, ...exportedFrom, ...dynamicImports, ...typeImports, ...foundFiles],
    uses,
    errors: errors.map(({ message }) => message),
  }
}

const walk = (
  program: Program,
  lineOf: (offset: number) => number,
): { uses: readonly Use[]; typeImports: readonly Import[]; foundFiles: readonly Import[] } => {
  const uses: Use[] = []
  const typeImports: Import[] = []
  // `import.meta.resolve('…')`: what is found to be read is needed as much as what is imported.
  const foundFiles: Import[] = []
  const add = (kind: Use['kind'], node: Node, count = 0) => {
    const name = dottedName(node)
    if (name !== undefined) uses.push({ kind, name, arguments: count, line: lineOf(node.start) })
  }
  // A name that is handed on is used as well: `promisify(setTimeout)`, `const env = process`.
  const addHandedOn = (nodes: readonly Node[]) => nodes.filter(({ type }) => type === 'Identifier').forEach((node) => add('read', node))
  new Visitor({
    CallExpression: ({ callee, arguments: given }) => {
      // A dotted name that is called is read first.
      if (callee.type === 'Identifier') add('call', callee, given.length)
      const [specifier] = given
      if (isMetaResolve(callee) && specifier?.type === 'Literal' && typeof specifier.value === 'string')
        foundFiles.push({ specifier: specifier.value, isType: false, line: lineOf(specifier.start) })
      addHandedOn(given)
    },
    NewExpression: ({ callee, arguments: given }) => {
      add('new', callee, given.length)
      addHandedOn(given)
    },
    MemberExpression: (node) => add('read', node),
    VariableDeclarator: ({ init }) => addHandedOn(init === null ? [] : [init]),
    TSImportType: ({ source, start }) => void typeImports.push({ specifier: source.value, isType: true, line: lineOf(start) }),
  }).visit(program)
  return { uses, typeImports, foundFiles }
}

const isMetaResolve = (node: Node): boolean =>
  node.type === 'MemberExpression' &&
  node.object.type === 'MetaProperty' &&
  node.property.type === 'Identifier' &&
  node.property.name === 'resolve'

// `a.b.c` and `a['b']`; undefined for anything that does not begin with a plain name.
const dottedName = (node: Node): string | undefined => fullName(node)?.replace(/^globalThis\./, '')

const fullName = (node: Node): string | undefined => {
  if (node.type === 'Identifier') return node.name
  if (node.type !== 'MemberExpression') return undefined
  const object = fullName(node.object)
  if (object === undefined) return undefined
  if (!node.computed && node.property.type === 'Identifier') return `${object}.${node.property.name}`
  return node.property.type === 'Literal' ? `${object}.${String(node.property.value)}` : undefined
}

const lineCounter = (text: string) => {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset: number): number => {
    const after = starts.findIndex((start) => start > offset)
    return after < 0 ? starts.length : after
  }
}
