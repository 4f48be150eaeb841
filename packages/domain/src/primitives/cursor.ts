// Cursors of lists: opaque text that a caller sends back to get the next page. It holds the place
// after which that page begins, and the list with its owner and filters: no other list accepts it.

const version = 1

type Fields = readonly unknown[]

/**
 * JSON in base64url. Escaped to ASCII first, because a broker's id may hold any character.
 */
export const cursorAfter = (list: Fields, place: Fields): string =>
  btoa(encodeURIComponent(JSON.stringify([version, list, place])))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** Undefined for a cursor that is damaged, of another version or of another list. */
export const placeOfCursor = (list: Fields, cursor: string): Fields | undefined => {
  const fields = decoded(cursor)
  if (!Array.isArray(fields) || fields.length !== 3) return undefined
  const [writtenBy, of, place] = fields as Fields
  return writtenBy === version &&
    JSON.stringify(of) === JSON.stringify(list) &&
    Array.isArray(place) &&
    // No store holds U+0000.
    !JSON.stringify(place).includes('\\u0000')
    ? place
    : undefined
}

const decoded = (text: string): unknown => {
  try {
    return JSON.parse(decodeURIComponent(atob(text.replaceAll('-', '+').replaceAll('_', '/'))))
  } catch {
    return undefined
  }
}
