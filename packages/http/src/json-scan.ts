// Measures JSON as it arrives, so that a body too large to handle is refused before it is parsed.

export interface JsonSize {
  /**
   * Lists, objects, strings, numbers, true, false and null. The names of members are not counted.
   */
  values: number
  /** The depth of the deepest list or object; a flat one has 1. */
  depth: number
  /** The members of all objects. */
  members: number
  /** The bytes of all strings and names. */
  textBytes: number
}

/**
 * Returns a function that accepts the next bytes and returns the size of the JSON so far. Syntax is
 * not checked: of text that is not JSON the size is that of a part or more, and JSON.parse refuses
 * it.
 */
export const createJsonScan = (): ((bytes: Uint8Array) => Readonly<JsonSize>) => {
  const size: JsonSize = { values: 0, depth: 0, members: 0, textBytes: 0 }
  let values = 0
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isInLiteral = false
  const countValue = () => {
    size.values = Math.max(size.values, ++values)
  }
  return (bytes) => {
    for (const byte of bytes) {
      if (isInString) {
        isInString = isEscaped || byte !== 0x22
        if (isInString) size.textBytes += 1
        isEscaped = !isEscaped && byte === 0x5c
        continue
      }
      const wasInLiteral = isInLiteral
      isInLiteral = false
      switch (byte) {
        case 0x22: // "
          isInString = true
          countValue()
          break
        case 0x5b: // [
        case 0x7b: // {
          size.depth = Math.max(size.depth, ++depth)
          countValue()
          break
        case 0x5d: // ]
        case 0x7d: // }
          depth -= 1
          break
        case 0x3a: // : (the string before it was a name)
          values -= 1
          size.members += 1
          break
        case 0x2c: // ,
        case 0x20:
        case 0x09:
        case 0x0a:
        case 0x0d:
          break
        default:
          isInLiteral = true
          if (!wasInLiteral) countValue()
      }
    }
    return size
  }
}
