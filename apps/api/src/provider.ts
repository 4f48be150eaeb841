// Where the provider is: its published hosts, or a simulated one that is started with the service.
import { join } from 'node:path'
import type { Closers } from './closers.ts'
import type { Config, ProviderUrls } from './config.ts'
import { demoBrokerAccounts, demoProviderToken } from './demo.ts'
import type { DemoState } from './demo.ts'

export const openProvider = async (
  { broker, dataFolder }: Pick<Config, 'broker' | 'dataFolder'>,
  demo: DemoState | null,
  closers: Closers,
): Promise<ProviderUrls> => {
  if (broker.kind === 'metaapi') return broker.urls
  // Loaded only where it is used, as whatever else a configuration may do without.
  const { startSandbox } = await import('@tradeport/sandbox-broker')
  const sandbox = await startSandbox({
    tokens: [demoProviderToken],
    accounts: demoBrokerAccounts,
    stateFile: join(dataFolder, 'sandbox-broker.json'),
    ...(demo === null ? {} : { anchor: demo.anchor }),
  })
  closers.push(sandbox.close)
  return { provisioning: sandbox.url, client: sandbox.url }
}
