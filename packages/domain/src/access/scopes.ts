// What a credential may do (docs/behaviour.md#scopes).
import * as E from 'fp-ts/lib/Either.js'
import { insufficientScope } from '../errors.ts'
import type { InsufficientScope } from '../errors.ts'

const scopeResources = [
  'accounts',
  'market-data',
  'trading',
  'orders',
  'positions',
  'history',
  'webhooks',
  'finance',
  'ai-agents',
  'position-insights',
  'shared-charts',
] as const

export type Scope = `${(typeof scopeResources)[number]}:${'read' | 'write'}`

export const scopes: readonly Scope[] = scopeResources.flatMap(
  (resource) => [`${resource}:read`, `${resource}:write`] as const,
)

const known: ReadonlySet<string> = new Set(scopes)

export const isScope = (text: string): text is Scope => known.has(text)

/** Passes when one of the asked scopes is held. */
export const requireScope = (
  held: ReadonlySet<Scope>,
  anyOf: readonly Scope[],
): E.Either<InsufficientScope, void> =>
  anyOf.some((scope) => held.has(scope)) ? E.right(undefined) : E.left(insufficientScope(anyOf))
