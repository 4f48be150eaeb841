// Which file may import which: packages (apps → adapters → domain), folders of the domain, and no
// cycles anywhere, types included.

/** A folder imports only folders of earlier lines; folders of one line do not import each other. */
const folders = [
  ['primitives'],
  ['errors'],
  ['accounts', 'orders', 'positions', 'trades', 'statistics', 'market', 'webhooks', 'access'],
  ['journal'],
  ['events'],
  ['operator'],
  ['notices'],
  ['ports'],
  ['use-cases'],
]

/**
 * Statistics are computed from trades, and an order is checked by its account, the positions open
 * there and the terms of its instrument: the only imports among folders of a line.
 */
const mayImport = { statistics: ['trades'], orders: ['accounts', 'market', 'positions'] }

const domain = '^packages/domain/src/'

// A package that is named nowhere is an adapter, and may import the domain only.
const adapter = '^packages/(?!(?:domain|sandbox-broker|client|console|testkit)/)([^/]+)/'
const workspace = '^(packages|apps|tooling)/'
const ownPackage = '^$1/$2/'
const inPackage = (group) => `^(${group})/([^/]+)/`

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

export default {
  forbidden: [
    forbid(
      'no-cycle',
      'Move what the files share into one that both import.',
      {},
      { circular: true },
    ),
    forbid(
      'not-resolved',
      'A specifier that leads nowhere is checked by no rule.',
      {},
      { couldNotResolve: true },
    ),
    forbid(
      'domain-stands-first',
      'The domain imports no package of the workspace: declare a port in src/ports and let an adapter implement it.',
      { path: '^packages/domain/', pathNot: '^packages/domain/test/' },
      { path: workspace, pathNot: '^packages/domain/' },
    ),
    forbid(
      'adapter-imports-domain-only',
      'Declare what the adapter needs as a port; apps/api puts the two together.',
      { path: `${adapter}(?!test/)` },
      { path: workspace, pathNot: ['^packages/domain/', '^packages/$1/'] },
    ),
    forbid(
      'adapter-test-imports-few',
      'Tests of an adapter may use the sandbox broker and the test kit besides the domain.',
      { path: `${adapter}test/` },
      { path: workspace, pathNot: ['^packages/(domain|sandbox-broker|testkit)/', '^packages/$1/'] },
    ),
    forbid(
      'stand-alone',
      'People outside use this package by itself: write what it needs here.',
      { path: inPackage('packages'), pathNot: [adapter, '^packages/(domain|testkit|console)/'] },
      { path: workspace, pathNot: ownPackage },
    ),
    forbid(
      'console-imports-client-only',
      'The console reads the service through the client, as any program does.',
      { path: '^packages/console/' },
      { path: workspace, pathNot: '^packages/(client|console)/' },
    ),
    forbid(
      'app-imports-packages-only',
      'Move what two apps, or an app and a tool, need into a package.',
      { path: inPackage('apps') },
      { path: '^(apps|tooling)/', pathNot: ownPackage },
    ),
    forbid(
      'tool-imports-no-tool',
      'Move what two tools need into the harness.',
      { path: inPackage('tooling') },
      { path: '^tooling/', pathNot: [ownPackage, '^tooling/harness/'] },
    ),
    forbid(
      'by-name',
      'Import another package by its name, not by a path to its files.',
      { path: inPackage('packages|apps|tooling') },
      { path: workspace, pathNot: ownPackage, dependencyTypes: ['local'] },
    ),
    forbid(
      'test-equipment',
      'Fakes and contract suites are for tests and tooling.',
      { path: '^(packages|apps)/[^/]+/src/', pathNot: '^packages/testkit/' },
      { path: '^packages/testkit/' },
    ),
    forbid(
      'development-only',
      'Declare it among the dependencies: it is not installed with the package.',
      { path: '^(packages|apps)/[^/]+/src/', pathNot: '^packages/(testkit|contract-watch)/' },
      {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    ...folders.flatMap((names, rank) =>
      names.map((folder) =>
        forbid(
          `folder-${folder}`,
          'Let the caller pass it, or move it to an earlier folder.',
          { path: `${domain}${folder}(/|\\.ts$)` },
          {
            path: domain,
            pathNot: `${domain}(${[folder, ...(mayImport[folder] ?? []), ...folders.slice(0, rank).flat()].join('|')})(/|\\.ts$)`,
          },
        ),
      ),
    ),
    forbid(
      'folder-unknown',
      'Give the folder a place in the list of .dependency-cruiser.mjs.',
      { path: domain, pathNot: `${domain}(index\\.ts|(${folders.flat().join('|')})(/|\\.ts$))` },
      {},
    ),
    forbid(
      'domain-packages',
      'fp-ts, io-ts and one package for special functions are enough: declare a port instead.',
      { path: domain },
      { path: 'node_modules', pathNot: 'node_modules/(fp-ts|io-ts|@stdlib/[^/]+)/' },
    ),
    forbid(
      'domain-node',
      'The domain has no Node API but the HMAC of webhooks and the CRC of keys: declare a port.',
      { path: domain },
      { dependencyTypes: ['core'], pathNot: '^(crypto|zlib)$' },
    ),
    forbid(
      'domain-crypto',
      'One file signs, and one makes keys: import it.',
      { path: domain, pathNot: `${domain}(webhooks/signature|access/api-key)\\.ts$` },
      { path: '^(crypto|zlib)$' },
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(packages|apps|tooling)/[^/]+/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@tradeport/source', 'import', 'node', 'default'],
    },
  },
}
