// What the record of a route says of a parameter.
import type { apiRoutes } from '@tradeport/http'

type Field = (typeof apiRoutes)[number]['query'][string]

/** The parts of a parameter's JSON Schema that tests read. */
export interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
}

const valueOf = (field: Field) => ('optional' in field ? field.optional : field)

export const schemaOf = (field: Field): FieldSchema => valueOf(field).json as FieldSchema

export const isRequired = (field: Field): boolean => !('optional' in field)

/** Whether it is a date or a date-time, which no keyword of JSON Schema says of both. */
export const isTime = (field: Field): boolean => /^\d{4}-\d{2}-\d{2}/.test(String(valueOf(field).example))
