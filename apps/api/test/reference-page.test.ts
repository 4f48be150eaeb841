// The page's files: which there are, what they may do, and that none of them leads to another host.
import { describe, expect, it } from 'vitest'
import { createReferencePage } from '../src/reference-page.ts'

const files = createReferencePage({
  path: '/docs',
  documentPath: '/api/v1/openapi.json',
  title: 'Trades & <more>',
})
const paths = Object.keys(files) as readonly `/${string}`[]
const textOf = async (path: `/${string}`): Promise<string> =>
  Buffer.from((await files[path]?.read()) ?? '').toString()

describe('the reference page', () => {
  it('is a page, the viewer and the script that starts it', () => {
    expect(paths).toEqual([
      '/docs',
      expect.stringMatching(/^\/docs\/viewer-\d+\.\d+\.\d+\.js$/),
      expect.stringMatching(/^\/docs\/start-[0-9a-f]{16}\.js$/),
    ])
  })

  it('loads its own scripts and names nothing else', async () => {
    const page = await textOf('/docs')
    const named = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url)
    expect(named).toEqual(['data:,', ...paths.slice(1)])
    expect(page).not.toMatch(/https?:|\/\//)
    expect(page).toContain('<title>Trades &amp; &lt;more></title>')
    // The policy allows no script in the page.
    expect(page).not.toMatch(/<script(?! src="[^"]+"><\/script>)/)
  })

  it('is held to its own host by its policy', () => {
    const policy = files['/docs']?.headers['Content-Security-Policy']?.split('; ') ?? []
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).toContain("script-src 'self'")
    expect(policy.join()).not.toMatch(/https?:|\*|unsafe-eval|script-src[^,]*unsafe/)
  })

  it('starts the viewer with the document of the service, and with everything off that is of another host', async () => {
    const start = await textOf(paths[2] ?? '/')
    const settings: unknown = JSON.parse(/'#reference', (.*)\)\n$/.exec(start)?.[1] ?? '')
    expect(settings).toMatchObject({
      url: '/api/v1/openapi.json',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
      persistAuth: false,
    })
    expect(start).not.toMatch(/https?:/)
  })

  it('has the viewer whole, which makes what the script calls', async () => {
    const viewer = await textOf(paths[1] ?? '/')
    expect(viewer.length).toBeGreaterThan(1_000_000)
    expect(viewer).toContain('createApiReference')
    // Nothing is loaded piece by piece from beside it.
    expect(viewer).not.toMatch(/\bfrom\s*["']\.\//)
  })

  it('gives scripts paths of their own version, to be kept for good, and the page for a minute', () => {
    const caching = paths.map((path) => files[path]?.headers['Cache-Control'])
    expect(caching).toEqual([
      'public, max-age=60',
      ...Array.from({ length: 2 }, () => 'public, max-age=31536000, immutable'),
    ])
    const other = createReferencePage({ path: '/docs', documentPath: '/other.json', title: '' })
    expect(Object.keys(other)[2]).not.toBe(paths[2])
  })
})
