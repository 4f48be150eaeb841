// The parts of OpenAPI 3.1 that the API's document has.
import type { JsonSchema, NamedSchemas } from '../schema/json-schema.ts'

export interface Reference {
  readonly $ref: string
}

export interface Header {
  readonly description: string
  readonly schema: JsonSchema
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description: string
  readonly schema: JsonSchema
}

export interface Example {
  readonly summary: string
  readonly value: unknown
}

export interface Content {
  readonly schema: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, Example>>
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Header | Reference>>
  readonly content?: Readonly<Record<string, Content>>
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly required: true; readonly content: Readonly<Record<string, Content>> }
  /** By status, and `default`. */
  readonly responses: Readonly<Record<string, Response | Reference>>
  /** The scopes of which one passes. */
  readonly 'x-required-any-of'?: readonly string[]
  readonly 'x-rate-limit'?: { readonly requests: number; readonly periodSeconds: number }
}

export type PathItem = { readonly [Method in 'get' | 'post' | 'put' | 'delete']?: Operation }

export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly webhooks: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas: NamedSchemas
    readonly responses: Readonly<Record<string, Response>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly headers: Readonly<Record<string, Header>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
}
