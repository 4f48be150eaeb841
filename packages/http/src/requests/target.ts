// Takes a request target apart without ever throwing: what a caller writes there is any text.

export interface Target {
  /** Still percent-encoded. */
  readonly path: string
  readonly search: URLSearchParams
}

const absoluteForm = /^https?:\/\/[^/?#]*/i
const noSearch = new URLSearchParams()

/** Reads the path and the query of a request line, which proxies may send in absolute form (RFC 9112, 3.2.2). */
export const readTarget = (url: string): Target => {
  const target = url.startsWith('/') ? url : url.replace(absoluteForm, '')
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, search: noSearch }
  return { path: target.slice(0, mark), search: new URLSearchParams(target.slice(mark + 1)) }
}
