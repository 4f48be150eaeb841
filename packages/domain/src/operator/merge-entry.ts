// Brings the stored fields of a record to what an entry of the operator's document says.
import type { Settings } from './records.ts'

/** The record that a record belongs to: named once, never changed, and it must be there. */
interface OwnerRule {
  readonly owner: 'tenant' | 'user' | 'account'
  readonly known: ReadonlyMap<string, unknown>
}

/**
 * A required field cannot be unset, and a new record must name it. Any other is `unset` where it is
 * null and where a new record leaves it out.
 */
type Rule<A> = 'required' | OwnerRule | { readonly unset: A }

export type Rules<Fields> = { readonly [Field in keyof Fields]: Rule<Fields[Field]> }

/** An entry with what is stored of its record. */
export interface Merging<Entry, Stored> {
  readonly entry: Entry
  readonly stored: Stored | undefined
  readonly reportFault: (field: string, message: string) => unknown
}

/** Undefined where the entry has a fault. */
export const mergeEntry = <Fields>(
  { entry, stored, reportFault }: Merging<Settings<Fields>, Fields>,
  rules: Rules<Fields>,
): Fields | undefined => {
  const merged: Partial<Fields> = {}
  let hasFault = false
  for (const field of Object.keys(rules) as (keyof Fields & string)[]) {
    const { value, fault } = mergeField<Fields[typeof field]>(
      field,
      entry[field],
      stored?.[field],
      rules[field],
    )
    merged[field] = value
    if (fault === undefined) continue
    reportFault(field, fault)
    hasFault = true
  }
  return hasFault ? undefined : (merged as Fields)
}

const mergeField = <A>(
  field: string,
  said: A | null | undefined,
  stored: A | undefined,
  rule: Rule<A>,
): { readonly value?: A | undefined; readonly fault?: string } => {
  if (typeof rule === 'object' && 'unset' in rule)
    return { value: (said === undefined ? stored : said) ?? rule.unset }
  if (rule !== 'required' && stored !== undefined && said !== undefined && said !== stored)
    return {
      fault: `${field} of a record that is there cannot change; remove the record and create it anew`,
    }
  if (said === null) return { fault: `${field} cannot be unset; leave it out to keep it` }
  const value = said ?? stored
  if (value === undefined)
    return { fault: `${field} is required for a record that is not there yet` }
  return rule === 'required' || rule.known.has(String(value))
    ? { value }
    : { fault: `there is no ${rule.owner} ${String(value)}` }
}
