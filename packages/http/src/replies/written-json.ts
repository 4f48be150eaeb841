// JSON that is written already. Records that caches keep are written once for as long as they live, and a page of them is put together from that.

/** The text of one JSON value. */
export class WrittenJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * Writes lists of records, each record once.
 * @param present must give the same for the same record, which must not change
 */
export const writtenOnce = <Row extends object>(present: (record: Row) => object): ((records: readonly Row[]) => WrittenJson) => {
  const written = new WeakMap<Row, string>()
  const write = (record: Row): string => {
    const known = written.get(record)
    if (known !== undefined) return known
    const text = JSON.stringify(present(record))
    written.set(record, text)
    return text
  }
  return (records) => new WrittenJson(`[${records.map(write).join(',')}]`)
}
