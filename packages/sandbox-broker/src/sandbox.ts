// The sandbox as a program uses it: started on a port, with every account at hand.
import type { AddressInfo } from 'node:net'
import { addAccount, createCore, type Core } from './core.ts'
import { createControl, type AccountControl } from './control/account-control.ts'
import type { AccountOptions, SandboxOptions } from './options.ts'
import { createRestServer } from './rest/server.ts'
import type { RequestLog } from './request-log.ts'

export type Sandbox = {
  /** `http://127.0.0.1:<port>`, a base for all of the provider's hosts; `<url>/<region>` asks in a region. */
  readonly url: string
  readonly port: number
  readonly seed: number
  readonly accountIds: () => readonly string[]
  /** Throws when there is no such account. */
  readonly account: (id: string) => AccountControl
  readonly addAccount: (options: AccountOptions) => AccountControl
  readonly requests: RequestLog
  readonly close: () => Promise<void>
}

/** Starts a sandbox that listens; on a free port unless one is given. */
export const startSandbox = async (options: SandboxOptions & { readonly port?: number; readonly host?: string } = {}): Promise<Sandbox> => {
  const core = createCore(options, options.anchor ?? (options.now ?? Date.now)())
  const server = createRestServer(core)
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host}:${port}`,
    port,
    ...handles(core),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)))
        server.closeAllConnections()
      }),
  }
}

const handles = (core: Core) => ({
  seed: core.seed,
  accountIds: () => [...core.accounts.keys()],
  account: (id: string) => {
    const account = core.accounts.get(id)
    if (account === undefined) throw new Error(`The sandbox has no account ${id}`)
    return createControl(core, account)
  },
  addAccount: (options: AccountOptions) => createControl(core, addAccount(core, options)),
  requests: core.requests.log,
})
