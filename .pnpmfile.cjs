// Runs before every install.
const [major, minor] = process.versions.node.split('.').map(Number)
const runsTypeScript = major > 22 || (major === 22 && minor >= 18)
// For these the pinned Node is installed with the packages (optionalDependencies of package.json).
const isBundled = ['linux-x64', 'linux-arm64', 'win32-x64'].includes(
  `${process.platform}-${process.arch}`,
)
if (!runsTypeScript && !isBundled) {
  process.stderr.write(
    `Tradeport needs Node 22.18 or newer here, and this is ${process.version}; install a newer one from nodejs.org and repeat the command.\n`,
  )
  process.exit(1)
}

// GET /docs serves one bundled file of the viewer: the packages it was made from are not needed.
const readPackage = (manifest) =>
  manifest.name === '@scalar/api-reference' ? { ...manifest, dependencies: {} } : manifest

module.exports = { hooks: { readPackage } }
