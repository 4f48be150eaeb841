// Lists of records that caches keep are put together from the JSON of each record, which is made
// once: a page of positions costs a join.
import type { Schema } from './schema.ts'
import { JsonText } from './route.ts'

/** @param present must give the same for the same record, which must not change */
export const encodedOnce = <R extends object, A>(
  schema: Schema<A>,
  present: (record: R) => A,
): ((records: readonly R[]) => JsonText<readonly A[]>) => {
  const texts = new WeakMap<R, string>()
  const encode = (record: R): string => {
    const known = texts.get(record)
    if (known !== undefined) return known
    const made = JSON.stringify(schema.encode(present(record)))
    texts.set(record, made)
    return made
  }
  // By its first record the list that was encoded last: whoever asks again for the same page gets
  // it as it is.
  const lists = new WeakMap<
    R,
    { readonly records: readonly R[]; readonly text: JsonText<readonly A[]> }
  >()
  return (records) => {
    const [first] = records
    const last = first && lists.get(first)
    if (
      last?.records.length === records.length &&
      records.every((record, index) => record === last.records[index])
    )
      return last.text
    const text = new JsonText<readonly A[]>(`[${records.map(encode).join(',')}]`)
    if (first !== undefined) lists.set(first, { records, text })
    return text
  }
}
