// The codes of refusals that any route of an OpenAPI document can answer.
import type { WatchedDocument } from '@tradeport/contract-watch'

export const documentedCodes = ({ paths, components }: WatchedDocument): ReadonlySet<string> => {
  const codes = new Set<string>()
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { code } = node as { readonly code?: { readonly enum?: readonly string[] } }
    // Warnings have codes too, in small letters.
    for (const one of code?.enum ?? []) if (one === one.toUpperCase()) codes.add(one)
    for (const child of Object.values(node)) look(child)
  }
  look(paths)
  look(components)
  return codes
}
