// The process: reads the environment, starts everything, and ends it in order on a signal.
import { resolve } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from 'pino'
import { readConfig } from './config.ts'
import type { Environment } from './config.ts'
import { createLog, endWhenUncaught } from './log.ts'
import { startService } from './service.ts'

// From `apps/api/src` and from `apps/api/dist` alike, the repository's root.
const defaultDataFolder = resolve(import.meta.dirname, '../../../.data')

const start = async (environment: Environment): Promise<void> => {
  const config = readConfig(environment, defaultDataFolder)
  if (E.isLeft(config))
    return fail(['The environment is not one that the service can start with:', ...config.left.map((fault) => `  ${fault}`)])
  const log = createLog(config.right.logLevel)
  endWhenUncaught(log)
  for (const warning of config.right.warnings) log.warn({ event: 'configuration' }, warning)
  const service = await startService(config.right, log)
  // Before anybody is told that it listens: who is told may end it in the same instant.
  stopOnSignal(service.close, config.right.drainTimeoutMs, log)
  log.info({ event: 'listening', api: service.apiUrl, operator: service.operatorUrl }, 'listening')
  if (service.welcome !== null) process.stdout.write(`${service.welcome}\n`)
}

// The first signal lets what is in flight end, within its time; a second one, of either kind, ends the process at once.
const stopOnSignal = (close: () => Promise<void>, timeoutMs: number, log: Logger): void => {
  const giveUp = (fields: object, message: string): void => {
    log.error(fields, message)
    process.exit(1)
  }
  let isStopping = false
  const stop = (signal: NodeJS.Signals): void => {
    if (isStopping) return giveUp({ event: 'stopped_at_once', signal }, 'a second signal ends what was not over')
    isStopping = true
    log.info({ event: 'stopping', signal }, 'stopping')
    setTimeout(() => giveUp({ event: 'drain_timeout', timeoutMs }, 'not everything was over in time'), timeoutMs)
    close().then(
      () => process.exit(0),
      (error: unknown) => giveUp({ err: error }, 'could not stop in order'),
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
}

const fail = (lines: readonly string[]): void => {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exitCode = 1
}

await start(process.env).catch((error: unknown) => {
  fail([`The service cannot start: ${error instanceof Error ? error.message : String(error)}`])
  process.exit(1)
})
