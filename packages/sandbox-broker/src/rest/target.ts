// A request's target taken apart. Not by URL, which would read a host out of a path that begins with two slashes.

export type Target = {
  /** Decoded; undefined where the encoding is broken. */
  readonly segments: readonly string[] | undefined
  readonly query: URLSearchParams
}

export const readTarget = (target: string): Target => {
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  return { segments: decodeSegments(path), query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)) }
}

const decodeSegments = (path: string): readonly string[] | undefined => {
  try {
    return path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent)
  } catch {
    return undefined
  }
}
