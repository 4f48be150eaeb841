// What many operations of the document share: the headers of replies, the id of a request, the two credentials.
import { exampleRequestId } from '../presenters/examples.ts'
import { longestRequestId, requestIdPattern } from '../requests/request-id.ts'
import type { Header, Parameter, Reference } from './open-api.ts'

export const headers: Readonly<Record<string, Header>> = {
  RequestId: {
    description: 'The id of the request, as sent or as generated (`req_…`).',
    schema: { type: 'string', examples: [exampleRequestId] },
  },
  RateLimitLimit: {
    description: 'What the tightest limit of the credential holds when it is full. Sent where a credential was recognised.',
    schema: { type: 'integer', examples: [300] },
  },
  RateLimitRemaining: {
    description: 'How many requests are left of it.',
    schema: { type: 'integer', examples: [299] },
  },
  RateLimitReset: {
    description: 'When it will be full again, in Unix seconds.',
    schema: { type: 'integer', examples: [1_763_647_510] },
  },
  RetryAfter: {
    description: 'After how many whole seconds to try again.',
    schema: { type: 'integer', minimum: 1, examples: [7] },
  },
}

const header = (name: string): Reference => ({ $ref: `#/components/headers/${name}` })

export const requestIdHeader = { 'X-Request-ID': header('RequestId') }
export const rateHeaders = {
  'X-RateLimit-Limit': header('RateLimitLimit'),
  'X-RateLimit-Remaining': header('RateLimitRemaining'),
  'X-RateLimit-Reset': header('RateLimitReset'),
}
export const retryAfterHeader = { 'Retry-After': header('RetryAfter') }

export const parameters: Readonly<Record<string, Parameter>> = {
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description: 'An id of your own for the request. One of another form is passed over, and a generated one used.',
    schema: { type: 'string', minLength: 1, maxLength: longestRequestId, pattern: requestIdPattern.source },
  },
}

export const requestIdParameter: Reference = { $ref: '#/components/parameters/RequestId' }

export const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key: `tp_live_` and an opaque text.' },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An OAuth 2.0 access token. Where a request carries both, the token is used.',
  },
}

/** Either credential. */
export const anyCredential = [{ apiKey: [] }, { accessToken: [] }]
