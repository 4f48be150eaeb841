// Parses the JSON of a body, in a worker thread where it is long.

interface ParsedJson {
  readonly value?: unknown
  /** What the bytes are instead of JSON in UTF-8. */
  readonly fault?: string
}

/** @param pieces the bytes in order, cut anywhere */
const parseJson = (pieces: readonly Uint8Array[]): ParsedJson => {
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
  } catch {
    return { fault: 'bytes that are not UTF-8' }
  }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const [, length] = /at position (\d+)/.exec(String(error)) ?? []
    return {
      fault: `text that is not JSON${length === undefined ? '' : ` after ${length} characters`}`,
    }
  }
}

// A worker thread runs what its file exports as default.
export default parseJson
