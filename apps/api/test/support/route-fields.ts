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

export const schemaOf = (field: Field): FieldSchema => field.json

export const isRequired = (field: Field): boolean => !('fallback' in field)

/** Whether it is a date or a date-time, which no keyword of JSON Schema says of both. */
export const isTime = (field: Field): boolean => /^\d{4}-\d{2}-\d{2}/.test(String(field.example))
