#!/usr/bin/env node
// Stands in for the built command, so that the bin exists before the first build.
await import('./dist/bin.js')
