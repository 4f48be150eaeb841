// Text that callers hand back as it was given: JSON in base64 with the URL's alphabet, for cursors.

/** Escaped to ASCII first, because an id of a broker's may hold any character. */
export const toOpaque = (value: unknown): string =>
  btoa(encodeURIComponent(JSON.stringify(value)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** undefined, which JSON cannot say, for what `toOpaque` never wrote. */
export const fromOpaque = (text: string): unknown => {
  try {
    return JSON.parse(decodeURIComponent(atob(text.replaceAll('-', '+').replaceAll('_', '/'))))
  } catch {
    return undefined
  }
}
