// Of the viewer that GET /docs shows the file for browsers alone is served, which has everything in it: what it is made from need not be installed.
const readPackage = (manifest) => (manifest.name === '@scalar/api-reference' ? { ...manifest, dependencies: {} } : manifest)

module.exports = { hooks: { readPackage } }
