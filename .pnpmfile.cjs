// pnpm runs this before every command.
const { existsSync, readFileSync, rmSync, statSync } = require('node:fs')
const { join } = require('node:path')

const [major] = process.versions.node.split('.').map(Number)
// For these the pinned Node is installed with the packages (optionalDependencies of package.json).
const isBundled = ['linux-x64', 'linux-arm64', 'win32-x64'].includes(
  `${process.platform}-${process.arch}`,
)
if (major < 24 && !isBundled) {
  process.stderr.write(
    `Tradeport needs Node 24 or newer here, and this is ${process.version}; install a newer one from nodejs.org and repeat the command.\n`,
  )
  process.exit(1)
}

// `pnpm start` and `pnpm operator` need no devDependencies: where nothing is installed yet, they
// install without. The next other command adds them: pnpm installs again where its record of the
// last install is missing.
const lastInstall = join(__dirname, 'node_modules/.pnpm-workspace-state-v1.json')
const isInstalled = existsSync(lastInstall)
const command = process.argv.slice(2).find((word) => !word.startsWith('-') && word !== 'run')
const isService = command === 'start' || command === 'operator'
if (isService && !isInstalled) process.env.npm_config_production = 'true'
if (!isService && isInstalled && !JSON.parse(readFileSync(lastInstall, 'utf8')).settings.dev)
  rmSync(lastInstall)

// pnpm's own check (verifyDepsBeforeRun) finds an install without devDependencies incomplete.
const isCurrent = () =>
  statSync(lastInstall).mtime > statSync(join(__dirname, 'pnpm-lock.yaml')).mtime
const updateConfig = (config) =>
  isService && isInstalled && isCurrent() ? { ...config, verifyDepsBeforeRun: false } : config

// GET /docs serves one bundled file of the viewer: the packages it was made from are not needed.
const readPackage = (manifest) =>
  manifest.name === '@scalar/api-reference' ? { ...manifest, dependencies: {} } : manifest

module.exports = { hooks: { readPackage, updateConfig } }
