// Parses the JSON of a body, in a worker thread where it is long.

/** Undefined where the bytes are not JSON in UTF-8. */
const parseJson = (bytes: Uint8Array): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return undefined
  }
}

// A worker thread runs what its file exports as default.
export default parseJson
