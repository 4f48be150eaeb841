// Starts everything that the configuration asks for, and ends it in reverse order.
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from 'pino'
import { openAdapters } from './adapters.ts'
import type { AdapterTimes } from './adapters.ts'
import { closeInReverse } from './closers.ts'
import type { Closers } from './closers.ts'
import { composeUseCases } from './compose.ts'
import type { ComposedService } from './compose.ts'
import type { Config } from './config.ts'
import { keepSecret, openDataFolder } from './data-folder.ts'
import { demoDocument, demoWelcome, markDemoApplied } from './demo.ts'
import type { DemoState } from './demo.ts'
import { openListeners } from './listeners.ts'
import { tokenForm } from './secret-forms.ts'
import { newSecret } from './secrets.ts'
import { startWorkers } from './workers.ts'

export interface Service {
  readonly apiUrl: string
  readonly operatorUrl: string
  /** What a newcomer is shown; null when the service is no demo. */
  readonly welcome: string | null
  /**
   * Says that it takes no more, waits as long as is configured, takes no new connection, lets what
   * is under way end, and closes the database.
   */
  readonly close: () => Promise<void>
}

/** The machine's clock when left out, and the usual deadlines. */
export type ServiceTimes = Partial<AdapterTimes>

/**
 * @throws when something that the service cannot do without is not to be had; the message is for
 * the operator and holds no secret
 */
export const startService = async (
  config: Config,
  log: Logger,
  times: ServiceTimes = {},
): Promise<Service> => {
  const closers: Closers = []
  try {
    return await start(
      config,
      log,
      { clock: { now: Date.now }, deadlines: {}, pauses: undefined, redis: {}, ...times },
      closers,
    )
  } catch (error) {
    // Why it could not start is what the operator must learn.
    await closeInReverse(closers).catch((failure: unknown) =>
      log.warn({ err: failure }, 'not all that was opened could be ended'),
    )
    throw error
  }
}

const start = async (
  config: Config,
  log: Logger,
  times: AdapterTimes,
  closers: Closers,
): Promise<Service> => {
  await openDataFolder(config.dataFolder)
  const operatorToken =
    config.operatorToken ??
    (await keepSecret(config.dataFolder, {
      name: 'operator-token',
      make: newSecret,
      form: tokenForm,
    }))
  const opened = await openAdapters(config, { ...times, log, closers })
  const composed = composeUseCases(opened.adapters)
  await startWorkers(composed, opened, { closers, log })
  if (opened.demo !== null) await applyDemo(opened.demo, composed, config)

  let isDraining = false
  const urls = await openListeners(config, composed, {
    opened,
    operatorToken,
    isDraining: () => isDraining,
    log,
    closers,
  })
  return {
    apiUrl: urls.api,
    operatorUrl: urls.operator,
    welcome: opened.demo === null ? null : demoWelcome(urls, opened.demo.key),
    close: async () => {
      isDraining = true
      if (config.drainDelayMs > 0) await setTimeout(config.drainDelayMs)
      await closeInReverse(closers)
    },
  }
}

const applyDemo = async (
  demo: DemoState,
  { operatorUseCases }: ComposedService,
  { dataFolder }: Config,
): Promise<void> => {
  if (demo.isApplied) return
  const applied = await operatorUseCases.applyOperatorDocument(demoDocument(demo))()
  if (E.isLeft(applied))
    throw new Error(`the demo's records cannot be written: ${JSON.stringify(applied.left)}`)
  await markDemoApplied(dataFolder, demo)
}
