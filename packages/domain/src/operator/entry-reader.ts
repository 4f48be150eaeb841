// How one field of an operator's entry meets what is stored: left alone when absent, unset when null, and every fault is kept with its path.
import type { Issue } from '../errors.ts'
import type { Setting } from './document.ts'

export interface EntryReader {
  /** `accounts[0]`. */
  readonly path: string
  readonly fault: (field: string, message: string) => undefined
  /** A field that every record has: a new record must name it, and it cannot be unset. */
  readonly required: <A>(field: string, value: Setting<A>, stored: A | undefined) => A | undefined
  /** A field that a record can do without: absent on a new record and null both mean `unset`. */
  readonly optional: <A>(value: Setting<A>, stored: A | undefined, unset: A) => A
  /** A field that says whose a record is: named once, never changed. */
  readonly fixed: <A>(field: string, value: Setting<A>, stored: A | undefined) => A | undefined
}

export const createEntryReader = (path: string, faults: Issue[]): EntryReader => {
  const fault = (field: string, message: string): undefined => {
    faults.push({ path: `${path}.${field}`, message })
    return undefined
  }
  const required = <A>(field: string, value: Setting<A>, stored: A | undefined): A | undefined => {
    if (value === null) return fault(field, `${field} cannot be unset; leave it out to keep it`)
    if (value !== undefined) return value
    return stored ?? fault(field, `${field} is required for a record that is not there yet`)
  }
  return {
    path,
    fault,
    required,
    optional: (value, stored, unset) => (value === undefined ? (stored ?? unset) : (value ?? unset)),
    fixed: (field, value, stored) => {
      if (stored !== undefined && value !== undefined && value !== stored)
        return fault(field, `${field} of a record that is there cannot change; remove the record and create it anew`)
      return required(field, value, stored)
    },
  }
}
