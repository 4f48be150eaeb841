// The OpenAPI documents have no findings of a linter, and the client's files are those of the API.
import { readFile } from 'node:fs/promises'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { createOpenApiDocument, createOperatorDocument } from '@tradeport/http'
import { expect, it } from 'vitest'
import { contractFiles } from '../contract/contract-types.ts'

it("the client's generated files are those of the API", async () => {
  for (const [path, text] of await contractFiles())
    expect(await readFile(path, 'utf8'), 'run `pnpm contract`').toBe(text)
})

it.each([
  { name: 'users', document: createOpenApiDocument() },
  { name: 'operators', document: createOperatorDocument() },
])('the document for $name has no finding of Spectral', async ({ document }) => {
  const linter = new spectral.Spectral()
  linter.setRuleset({ extends: [[rulesets.oas as RulesetDefinition, 'recommended']] })
  const findings = (await linter.run(document as never)).map(
    ({ code, path }) => `${code} at ${path.join('.')}`,
  )
  expect(findings).toEqual([])
})
