import { describe, expect, it } from 'vitest'
import { documentedCodes } from '../../src/soak/documented.ts'

const withCodes = (...codes: readonly string[]) => ({
  content: { 'application/json': { schema: { properties: { error: { allOf: [{ properties: { code: { enum: codes } } }] } } } } },
})

describe('the codes of a document', () => {
  it('are those of every reply, whether it stands with its route or is referred to', () => {
    const document = {
      servers: [],
      webhooks: {},
      paths: { '/a': { get: { responses: { 400: withCodes('ONE', 'TWO', 'a_warning'), 404: { $ref: '#/components/responses/Gone' } } } } },
      components: { schemas: {}, responses: { Gone: withCodes('GONE') } },
    }
    expect([...documentedCodes(document)].toSorted()).toStrictEqual(['GONE', 'ONE', 'TWO'])
  })
})
