// Parses the JSON of a body, in a worker thread where it is long.

/** Undefined where the bytes are not JSON in UTF-8. */
export const parseJson = (bytes: Uint8Array): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return undefined
  }
}

/** Longer than any text that a route of the API accepts. */
const maxTextLength = 16_384

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return value.slice(0, maxTextLength)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(shortened)
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name.slice(0, maxTextLength), shortened(part)]),
  )
}

/**
 * What a worker thread runs.
 * @param isOperators Whether the operator sent it. Of others' bodies, texts that are too long for
 * every route are cut off: to copy 10 MiB to the main thread holds its event loop for up to 50 ms.
 */
export default ({
  bytes,
  isOperators,
}: {
  readonly bytes: Uint8Array
  readonly isOperators: boolean
}): ReturnType<typeof parseJson> => {
  const parsed = parseJson(bytes)
  return parsed && !isOperators ? { value: shortened(parsed.value) } : parsed
}
