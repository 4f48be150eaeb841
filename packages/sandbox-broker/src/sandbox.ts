// The sandbox as a program uses it: started on a port, with access to every account, fault, price
// and request.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type AccountControl, createControl } from './control.ts'
import { addAccount, createCore, type Core } from './core.ts'
import { instrumentOf, type Quote } from './market.ts'
import type { AccountOptions, SandboxOptions } from './options.ts'
import { listen } from './routes.ts'
import { applyState, createStateWriter, noStateWriter, readState } from './state-file.ts'

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

/** Starts a sandbox that listens on 127.0.0.1, by default on a free port. */
export const startSandbox = async (options: SandboxOptions & { readonly port?: number } = {}) => {
  const { stateFile } = options
  const saved = stateFile === undefined ? undefined : readState(stateFile)
  const core = createCore(options, saved?.anchor ?? (options.now ?? Date.now)())
  if (stateFile !== undefined && saved !== undefined) applyState(core, saved, stateFile)
  const writer = stateFile === undefined ? noStateWriter : createStateWriter(core, stateFile)
  const server = listen(core, writer.changed, options.port ?? 0)
  await once(server, 'listening')
  writer.changed()
  const { port } = server.address() as AddressInfo
  return {
    /**
     * A base for all of the provider's hosts; `<url>/<region>` asks in a region.
     */
    url: `http://127.0.0.1:${port}`,
    ...controlsOf(core, writer.changed),
    /** Stops listening, cuts open connections and writes the state file. */
    close: async (): Promise<void> => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      await writer.close()
    },
  }
}

const controlsOf = (core: Core, changed: () => void) => ({
  accountIds: (): readonly string[] => [...core.accounts.keys()],
  /** Throws when there is no such account. */
  account: (id: string): AccountControl => {
    const account = core.accounts.get(id)
    if (account === undefined) throw new Error(`The sandbox has no account ${id}`)
    return createControl(core, account, changed)
  },
  addAccount: (options: AccountOptions): AccountControl => {
    const control = createControl(core, addAccount(core, options), changed)
    changed()
    return control
  },
  faults: core.faults.faults,
  requests: core.requests.log,
  prices: {
    /** The price now of one of the broker's symbols, without suffix. Throws when there is none. */
    quote: (symbol: string): Quote =>
      core.market.prices.quote(instrumentOf(core.market, symbol), core.now()),
    /** Holds a symbol at a price. */
    pin: (symbol: string, quote: Quote): void => {
      core.market.prices.pin(instrumentOf(core.market, symbol).symbol, quote)
      changed()
    },
  },
  market: {
    /** Shuts one symbol, or all. */
    close: (symbol = '*'): void => {
      core.market.setOpen(symbol, false)
      changed()
    },
    open: (symbol = '*'): void => {
      core.market.setOpen(symbol, true)
      changed()
    },
  },
})
