// Starts everything that the configuration asks for, and ends it in reverse order.
import { mkdir } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openAdapters, type AdapterTimes } from './adapters.ts'
import { composeUseCases } from './compose.ts'
import { tokenType, type Config } from './config.ts'
import { loadOrCreateSecret } from './data-folder.ts'
import { demoWelcome, loadOrCreateDemoKey, requireNoDemo } from './demo.ts'
import { createDemoSignIn } from './demo-sign-in.ts'
import { openListeners } from './listeners.ts'
import { newSecret } from './secrets.ts'
import { startWorkers } from './workers.ts'

export interface Service {
  readonly apiUrl: string
  readonly operatorUrl: string
  /** Printed for whoever starts the demo; null when the service is no demo. */
  readonly welcome: string | null
  /**
   * Graceful shutdown: fails `/readyz`, waits DRAIN_DELAY_SECONDS, accepts no new connection,
   * drains requests and work, and closes the database.
   */
  readonly close: () => Promise<void>
}

/**
 * @throws when the service cannot start; the message is for the operator and holds no secret
 */
export const startService = async (
  config: Config,
  log: Logger,
  times: AdapterTimes = {},
): Promise<Service> => {
  const { dataFolder, databaseUrl, drainDelayMs, isDemo } = config
  const closers = new AsyncDisposableStack()
  try {
    if (keepsData(config)) await mkdir(dataFolder, { recursive: true, mode: 0o700 })
    if (databaseUrl === null && !isDemo) requireNoDemo(dataFolder)
    const token = { name: 'operator-token', make: newSecret, type: tokenType }
    const operatorToken = config.operatorToken ?? (await loadOrCreateSecret(dataFolder, token))
    if (config.metricsToken === operatorToken)
      throw new Error('METRICS_TOKEN must differ from the token of the operator API')
    const opened = await openAdapters(config, { ...times, log, closers })
    const composed = composeUseCases(opened.adapters)
    // They end after the listeners, and start only when the start can no longer fail.
    const workers = closers.use(new AsyncDisposableStack())
    const { clock } = opened.adapters
    const demo = isDemo
      ? createDemoSignIn(await loadOrCreateDemoKey(dataFolder, composed, clock.now()), clock)
      : undefined
    let isDraining = false
    const urls = await openListeners(config, composed, {
      opened,
      operatorToken,
      isDraining: () => isDraining,
      demoPages: demo?.pages ?? {},
      log,
      closers,
    })
    await startWorkers(composed, opened, {
      closers: workers,
      log,
      watchMs: config.watchMs,
    })
    return {
      apiUrl: urls.api,
      operatorUrl: urls.operator,
      welcome:
        demo === undefined
          ? null
          : demoWelcome(
              urls,
              demo.key,
              config.capabilities,
              urls.hasConsole ? demo.link : undefined,
            ),
      close: async () => {
        isDraining = true
        if (drainDelayMs > 0) await setTimeout(drainDelayMs)
        await closers.disposeAsync()
      },
    }
  } catch (error) {
    // The operator has to know why the start failed, not what failed after it.
    await closers
      .disposeAsync()
      .catch((err: unknown) => log.warn({ err }, 'not everything that was opened could be closed'))
    throw error
  }
}

/** With a database server, only the simulated provider keeps a file in DATA_DIR. */
const keepsData = ({ databaseUrl, broker }: Config): boolean =>
  databaseUrl === null || broker === 'sandbox'
