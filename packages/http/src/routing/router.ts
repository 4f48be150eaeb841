// Finds the route of a method and a path: exactly as written, whole words before named segments (section 7, NOT_FOUND).
import type { Route } from './route.ts'

export interface Match<U> {
  readonly route: Route<U>
  /** By name, percent-decoded where that can be done. */
  readonly segments: Readonly<Record<string, string>>
}

/** undefined where no route has this method and path. */
export type Router<U> = (method: string | undefined, path: string) => Match<U> | undefined

interface Pattern<U> {
  readonly route: Route<U>
  readonly words: readonly string[]
}

/** @param prefix what stands before every path, such as `/api/v1` */
export const createRouter = <U>(prefix: string, routes: readonly Route<U>[]): Router<U> => {
  const fixed = new Map<string, Match<U>>()
  const patterns: Pattern<U>[] = []
  for (const route of routes) {
    if (route.path.includes('/:')) patterns.push({ route, words: route.path.split('/') })
    else fixed.set(`${route.method} ${prefix}${route.path}`, { route, segments: {} })
  }
  return (method, path) => {
    const match = fixed.get(`${method} ${path}`)
    if (match !== undefined || !path.startsWith(prefix)) return match
    return matchPattern(patterns, method, path.slice(prefix.length).split('/'))
  }
}

const matchPattern = <U>(patterns: readonly Pattern<U>[], method: string | undefined, parts: readonly string[]): Match<U> | undefined => {
  for (const { route, words } of patterns) {
    if (route.method !== method || words.length !== parts.length) continue
    const segments = matchWords(words, parts)
    if (segments !== undefined) return { route, segments }
  }
  return undefined
}

const matchWords = (words: readonly string[], parts: readonly string[]): Record<string, string> | undefined => {
  const segments: Record<string, string> = {}
  for (const [index, word] of words.entries()) {
    const part = parts[index] ?? ''
    if (!word.startsWith(':')) {
      if (word !== part) return undefined
      continue
    }
    if (part === '') return undefined
    segments[word.slice(1)] = decodeSegment(part)
  }
  return segments
}

// A segment that is not well-formed stays as it is written: the id of nothing, which is for the route to say.
const decodeSegment = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
