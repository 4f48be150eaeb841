// A table of routes, matched segment by segment.

export type RoutePattern = { readonly method: string; readonly path: string }

export type Match<R> =
  | { readonly kind: 'route'; readonly route: R; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'method' }
  | { readonly kind: 'none' }

export const createRouter = <R extends RoutePattern>(routes: readonly R[]): ((method: string, segments: readonly string[]) => Match<R>) => {
  const table = routes.map((route) => ({ route, pattern: route.path.split('/').filter((segment) => segment !== '') }))
  return (method, segments) => {
    let pathKnown = false
    for (const { route, pattern } of table) {
      const params = paramsOf(pattern, segments)
      if (params === undefined) continue
      if (route.method === method) return { kind: 'route', route, params }
      pathKnown = true
    }
    return { kind: pathKnown ? 'method' : 'none' }
  }
}

const paramsOf = (pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined => {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = segment
    else if (part !== segment) return undefined
  }
  return params
}
