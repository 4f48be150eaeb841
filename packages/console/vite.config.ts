// Builds the page into files with hashes in their names, which the API serves below /console.
import { resolve } from 'node:path'
import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  root: resolve(import.meta.dirname, 'page'),
  base: '/console/',
  // The client from its sources, so that the page needs no build of it.
  resolve: { conditions: ['@tradeport/source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: resolve(import.meta.dirname, 'dist/page'),
    emptyOutDir: true,
    // The Content-Security-Policy allows neither inline scripts nor data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  logLevel: 'warn',
})
