// What the two APIs have in common: from groups of routes follow the document and the application.
import type { IdempotencyStore } from '@tradeport/domain/ports'
import type Koa from 'koa'
import { type authorizeOperator, createApp, type ServerDependencies } from './app.ts'
import { type About, documentOf, type OpenApiDocument, type RouteGroup } from './document.ts'
import { filePages } from './pages.ts'
import type { IsOn, Route } from './route.ts'

/** The names of those that are on. */
type Capabilities = readonly string[] | 'all'

export interface ApiDependencies extends ServerDependencies {
  readonly capabilities: Capabilities
}

interface ApiParts<U, Dependencies> {
  readonly groups: (isOn: IsOn) => readonly RouteGroup<U>[]
  readonly about: (isOn: IsOn) => About
  readonly prefix: string
  readonly documentPath: `/${string}`
  readonly authorizeWith: (
    dependencies: Dependencies,
    useCases: U,
  ) => ReturnType<typeof authorizeOperator>
}

type WithIdempotency<U> = U & { readonly idempotency?: IdempotencyStore }

const isOnIn =
  (capabilities: Capabilities): IsOn =>
  (one) =>
    capabilities === 'all' || capabilities.includes(one)

export const defineApi = <U, Dependencies extends ApiDependencies>({
  groups,
  about,
  prefix,
  documentPath,
  authorizeWith,
}: ApiParts<U, Dependencies>) => {
  const groupsWith = (isOn: IsOn): readonly RouteGroup<U>[] =>
    groups(isOn)
      .map(({ routes, ...group }) => ({
        ...group,
        routes: routes.filter(
          ({ capability }) => capability === undefined || [capability].flat().some(isOn),
        ),
      }))
      .filter(({ routes }) => routes.length > 0)
  const routesWith = (capabilities: Capabilities): readonly Route<U>[] =>
    groupsWith(isOnIn(capabilities)).flatMap(({ routes }) => routes)
  const createDocument = (capabilities: Capabilities = 'all'): OpenApiDocument => {
    const isOn = isOnIn(capabilities)
    return documentOf(groupsWith(isOn), prefix, about(isOn))
  }
  return {
    /** Those of all capabilities. */
    routes: routesWith('all'),
    createDocument,
    /** Answers the routes, the document and the pages, and everything else with 404. */
    create: (useCases: U, dependencies: Dependencies): Koa => {
      const { capabilities, pages } = dependencies
      // Made when it is first asked for.
      const document = {
        headers: {
          'Content-Type': 'application/json; charset=utf-8',
          'Cache-Control': 'public, max-age=60',
        },
        read: async () => JSON.stringify(createDocument(capabilities)),
      }
      return createApp({
        prefix,
        routes: routesWith(capabilities),
        useCases: useCases as WithIdempotency<U>,
        authorize: authorizeWith(dependencies, useCases),
        dependencies: {
          ...dependencies,
          pages: { ...filePages({ [documentPath]: document }), ...pages },
        },
      })
    },
  }
}
