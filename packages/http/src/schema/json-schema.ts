// The part of JSON Schema (2020-12, as OpenAPI 3.1 takes it) that the API's document is written in.

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null'

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: JsonType | readonly JsonType[]
  readonly description?: string
  readonly format?: 'uuid' | 'date-time' | 'date' | 'uri'
  readonly pattern?: string
  readonly enum?: readonly (string | boolean | null)[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly anyOf?: readonly JsonSchema[]
  readonly default?: string | number
  readonly examples?: readonly unknown[]
}

/** Schemas that have names, by name. */
export type NamedSchemas = Readonly<Record<string, JsonSchema>>

/** A schema with those that it refers to. */
export interface Schema {
  readonly node: JsonSchema
  readonly named: NamedSchemas
}

export const schemaOf = (node: JsonSchema, ...parts: readonly Schema[]): Schema => ({
  node,
  named: Object.assign({}, ...parts.map(({ named }) => named)) as NamedSchemas,
})

/** The schema under a name: its place refers to it. */
export const namedSchema = (name: string, { node, named }: Schema): Schema => ({
  node: { $ref: `#/components/schemas/${name}` },
  named: { ...named, [name]: node },
})

/** The same schema in words of the place where it stands. */
export const describedSchema = ({ node, named }: Schema, description: string): Schema => ({ node: { ...node, description }, named })

/** Null as well. */
export const orNullSchema = ({ node, named }: Schema): Schema => {
  if (typeof node.type !== 'string') return { node: { anyOf: [node, { type: 'null' }] }, named }
  return { node: { ...node, type: [node.type, 'null'], ...(node.enum === undefined ? {} : { enum: [...node.enum, null] }) }, named }
}
