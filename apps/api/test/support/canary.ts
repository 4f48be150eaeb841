// How a test sees that every instance has heard of what the operator did: notices arrive in the order of their commits, so an instance that knows of
// the last change of a key knows of all that was changed before it.
import { setTimeout as pause } from 'node:timers/promises'

interface Instance {
  readonly apiUrl: string
  readonly operatorUrl: string
}

interface Requests {
  readonly apply: (operatorUrl: string, document: object) => Promise<{ readonly status: number }>
  /** GET below /api/v1 with the key. */
  readonly get: (apiUrl: string, path: string, key: string) => Promise<{ readonly status: number }>
}

const key = 'tp_live_only_for_automated_tests_canary_of_the_tests'
const pollMs = 5
const patienceMs = 30_000

/** @returns resolves once every instance knows of all that was applied before */
export const createCanary = (deployment: { readonly instances: readonly Instance[] }, { apply, get }: Requests): (() => Promise<void>) => {
  let turns = 0
  const turn = async (operatorUrl: string): Promise<void> => {
    turns += 1
    const { status } = await apply(operatorUrl, {
      tenants: [{ id: 'canary', name: 'Canary' }],
      users: [{ id: 'canary', tenantId: 'canary', email: 'canary@example.com', plan: 'enterprise' }],
      apiKeys: [{ id: 'canary', userId: 'canary', name: 'canary', key, scopes: [turns % 2 === 0 ? 'accounts:read' : 'positions:read'] }],
    })
    if (status !== 200) throw new Error(`the operator API answered ${status}`)
  }
  const hasHeard = async (apiUrl: string): Promise<void> => {
    const expected = turns % 2 === 0 ? 403 : 200
    const until = performance.now() + patienceMs
    while ((await get(apiUrl, '/positions', key)).status !== expected) {
      if (performance.now() > until) throw new Error('an instance did not hear of what was applied')
      await pause(pollMs)
    }
  }
  return async () => {
    const { instances } = deployment
    // By each, because each reads the links anew after its own document, and else within a second of a clock that may stand still.
    for (const { operatorUrl } of instances) await turn(operatorUrl)
    await Promise.all(instances.map(({ apiUrl }) => hasHeard(apiUrl)))
  }
}
