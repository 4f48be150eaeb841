// The sandbox as a program uses it: started on a port, with access to every account, fault, price
// and request.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type AccountControl, createControl } from './control.ts'
import { addAccount, createCore, instrumentOf, type Core } from './core.ts'
import type { Faults } from './faults.ts'
import type { Quote } from './market.ts'
import type { AccountOptions, SandboxOptions } from './options.ts'
import type { RequestLog } from './request-log.ts'
import { listen } from './routes.ts'
import { applyState, createStateWriter, noStateWriter, readState } from './state-file.ts'

export type Sandbox = {
  /**
   * `http://127.0.0.1:<port>`, a base for all of the provider's hosts; `<url>/<region>` asks in a
   * region.
   */
  readonly url: string
  readonly accountIds: () => readonly string[]
  /** Throws when there is no such account. */
  readonly account: (id: string) => AccountControl
  readonly addAccount: (options: AccountOptions) => AccountControl
  readonly faults: Faults
  readonly requests: RequestLog
  readonly prices: {
    /**
     * The price of one of the broker's symbols (without suffix) now. Throws when there is no such
     * symbol.
     */
    readonly quote: (symbol: string) => Quote
    /** Holds a symbol at a price. */
    readonly pin: (symbol: string, quote: Quote) => void
  }
  readonly market: {
    /** Shuts one symbol, or all. */
    readonly close: (symbol?: string) => void
    readonly open: (symbol?: string) => void
  }
  /** Stops listening, cuts open connections and writes the state file. */
  readonly close: () => Promise<void>
}

/** Starts a sandbox that listens on 127.0.0.1, by default on a free port. */
export const startSandbox = async (
  options: SandboxOptions & { readonly port?: number } = {},
): Promise<Sandbox> => {
  const { stateFile } = options
  const saved = stateFile === undefined ? undefined : readState(stateFile)
  const core = createCore(options, saved?.anchor ?? options.anchor ?? (options.now ?? Date.now)())
  if (stateFile !== undefined && saved !== undefined) applyState(core, saved, stateFile)
  const writer = stateFile === undefined ? noStateWriter : createStateWriter(core, stateFile)
  const server = listen(core, writer.changed, options.port ?? 0)
  await once(server, 'listening')
  writer.changed()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    ...controlsOf(core, writer.changed),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      await writer.close()
    },
  }
}

const controlsOf = (core: Core, changed: () => void): Omit<Sandbox, 'url' | 'close'> => ({
  accountIds: () => [...core.accounts.keys()],
  account: (id) => {
    const account = core.accounts.get(id)
    if (account === undefined) throw new Error(`The sandbox has no account ${id}`)
    return createControl(core, account, changed)
  },
  addAccount: (options) => {
    const control = createControl(core, addAccount(core, options), changed)
    changed()
    return control
  },
  faults: core.faults.faults,
  requests: core.requests.log,
  prices: {
    quote: (symbol) => core.market.prices.quote(instrumentOf(core.market, symbol), core.now()),
    pin: (symbol, quote) => {
      core.market.prices.pin(instrumentOf(core.market, symbol).symbol, quote)
      changed()
    },
  },
  market: {
    close: (symbol = '*') => {
      core.market.setOpen(symbol, false)
      changed()
    },
    open: (symbol = '*') => {
      core.market.setOpen(symbol, true)
      changed()
    },
  },
})
