// Runs before every install.
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

// GET /docs serves one bundled file of the viewer: the packages it was made from are not needed.
const readPackage = (manifest) =>
  manifest.name === '@scalar/api-reference' ? { ...manifest, dependencies: {} } : manifest

module.exports = { hooks: { readPackage } }
