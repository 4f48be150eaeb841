// The process: reads the environment, starts everything, and ends it in order on a signal.
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { apiVersion } from '@tradeport/http'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from 'pino'
import { readConfig, summaryOf } from './config.ts'
import type { Environment } from './config.ts'
import { createLog, endWhenUncaught } from './log.ts'

// V8 would allocate objects of requests in the old generation, because those that the start made
// live long. Each would keep alive what it refers to: collecting the young generation took 8 ms
// instead of 0.7, and a request 60 µs instead of 50.
setFlagsFromString('--no-allocation-site-pretenuring')

// From `apps/api/src` and from `apps/api/dist` alike, the repository's root.
const defaultDataFolder = resolve(import.meta.dirname, '../../../.data')

const start = async (environment: Environment): Promise<void> => {
  const config = readConfig(environment, defaultDataFolder)
  if (E.isLeft(config))
    return fail([
      'The service cannot start with these environment variables:',
      ...config.left.map((fault) => `  ${fault}`),
    ])
  const log = createLog(config.right.logLevel)
  endWhenUncaught(log)
  // Before anything is loaded or opened: a migration may take long, and a container's first process
  // ignores signals that it has no handler for.
  const stop = handleSignals(config.right.drainTimeoutMs, log)
  const { startService } = await import('./service.ts')
  const service = await startService(config.right, log)
  void stop.requested.then(service.close).then(() => process.exit(0), stop.fail)
  if (stop.isRequested()) return
  const addresses = { api: service.apiUrl, operator: service.operatorUrl }
  log.info(
    {
      event: 'listening',
      ...addresses,
      version: apiVersion,
      node: process.version,
      ...summaryOf(config.right),
    },
    'listening',
  )
  for (const warning of config.right.warnings) log.warn({ event: 'configuration' }, warning)
  if (service.welcome !== null) process.stdout.write(`${service.welcome}\n`)
}

// At the first signal, work under way may end, within its time, a start included; a second signal
// of either kind ends the process at once.
const handleSignals = (timeoutMs: number, log: Logger) => {
  const { promise: requested, resolve: request } = Promise.withResolvers<void>()
  const giveUp = (fields: object, message: string) => {
    log.error(fields, message)
    process.exit(1)
  }
  let isStopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping)
      return giveUp(
        { event: 'stopped_at_once', signal },
        'a second signal ended the process at once',
      )
    isStopping = true
    log.info({ event: 'stopping', signal }, 'stopping')
    setTimeout(() => giveUp({ event: 'drain_timeout', timeoutMs }, 'shutdown timed out'), timeoutMs)
    request()
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
  return {
    requested,
    isRequested: () => isStopping,
    fail: (error: unknown) => giveUp({ err: error }, 'shutdown failed'),
  }
}

const fail = (lines: readonly string[]): void => {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exitCode = 1
}

const help = `Usage: pnpm start

Starts the API with an embedded database and a simulated provider. Environment variables configure it:
docs/configuration.md lists them. DATABASE_URL and BROKER=metaapi are for real use. Ctrl+C stops it.
`

interface SystemError extends NodeJS.ErrnoException {
  readonly port?: number
  readonly address?: string
  readonly hostname?: string
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { code, syscall, path, port, address, hostname }: SystemError = error
  if (code === 'EADDRINUSE' && port !== undefined)
    return `port ${port} is in use. Stop the program that uses it, or set PORT or OPERATOR_PORT to another port (0 picks a free one)`
  const isUnknownHost = code === 'ENOTFOUND' && syscall === 'getaddrinfo'
  const host = isUnknownHost ? hostname : code === 'EADDRNOTAVAIL' ? address : undefined
  if (host !== undefined)
    return `${host} is not an address of this machine. Set HOST or OPERATOR_HOST, whichever it is, to one that is (without a port or brackets), or to 0.0.0.0 for all`
  if (syscall === 'mkdir' && (code === 'EEXIST' || code === 'ENOTDIR'))
    return `${path} is no folder. Set DATA_DIR to one`
  return error.message
}

const [argument] = process.argv.slice(2)
if (argument === '--help' || argument === '-h') process.stdout.write(help)
else if (argument === undefined)
  await start(process.env).catch((error: unknown) => {
    fail([`The service cannot start: ${reasonOf(error)}.`])
    process.exit(1)
  })
else
  fail([
    `pnpm start has no argument ${argument}; it is configured by environment variables (docs/configuration.md).`,
  ])
