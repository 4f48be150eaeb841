// JSON that is written already. Records that caches keep are written once for as long as they live, and a page of them is put together from that.

/** The text of one JSON value, which stands for an `A`. */
export class WrittenJson<A = unknown> {
  declare readonly of?: A
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * Writes lists of records, each record once, and the same records in the same order together once.
 * @param present must give the same for the same record, which must not change
 */
export const writtenOnce = <Row extends object, A extends object>(
  present: (record: Row) => A,
): ((records: readonly Row[]) => WrittenJson<readonly A[]>) => {
  const written = new WeakMap<Row, string>()
  // By its first record, the list that was written last: whoever asks again for the same page gets it as it is.
  const lists = new WeakMap<Row, { readonly records: readonly Row[]; readonly json: WrittenJson<readonly A[]> }>()
  const write = (record: Row): string => {
    const known = written.get(record)
    if (known !== undefined) return known
    const text = JSON.stringify(present(record))
    written.set(record, text)
    return text
  }
  return (records) => {
    const [first] = records
    if (first === undefined) return new WrittenJson('[]')
    const known = lists.get(first)
    if (known !== undefined && isSameList(known.records, records)) return known.json
    const json = new WrittenJson<readonly A[]>(`[${records.map(write).join(',')}]`)
    lists.set(first, { records, json })
    return json
  }
}

const isSameList = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index])
