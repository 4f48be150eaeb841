// Starts a service as `main` does, in this process, from an environment that is the test's and nobody else's.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MetaApiDeadlines } from '@tradeport/broker-metaapi'
import { readConfig } from '../../src/config.ts'
import type { Environment } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { startService } from '../../src/service.ts'
import type { Service, ServiceTimes } from '../../src/service.ts'
import { secretWatch } from './secret-watch.ts'

export const operatorToken = 'operator-token-for-tests'

export interface StartOptions {
  /** What the service takes for now, in epoch milliseconds; the machine's clock when left out. */
  readonly now?: () => number
  /** How long the provider may take, where a test does not wait as long as a service does. */
  readonly deadlines?: Partial<MetaApiDeadlines>
  /** After failures of an account at the provider; next to none when left out, so that a test need not wait. */
  readonly pauses?: ServiceTimes['pauses']
  readonly redis?: ServiceTimes['redis']
  /** Is given every line of the log. */
  readonly onLogLine?: (line: string) => void
}

/** The environment of a service on free ports with everything of its own in the folder. */
export const environmentOf = (folder: string, providerUrl: string): Environment => ({
  PORT: '0',
  OPERATOR_PORT: '0',
  DATA_DIR: folder,
  OPERATOR_TOKEN: operatorToken,
  BROKER: 'metaapi',
  METAAPI_CLIENT_URL: providerUrl,
  METAAPI_PROVISIONING_URL: providerUrl,
  // Every line is looked at for secrets, whoever else reads it.
  LOG_LEVEL: 'trace',
})

export const startFrom = async (
  environment: Environment,
  { now = Date.now, deadlines = {}, pauses = { firstMs: 1, longestMs: 1 }, redis = {}, onLogLine = () => undefined }: StartOptions = {},
): Promise<Service> => {
  const config = readConfig(environment, '/nowhere')
  if (config._tag === 'Left') throw new Error(config.left.join('; '))
  knowSecretsOf(environment)
  const write = (line: string): void => {
    secretWatch.hear('the log', line)
    onLogLine(line)
  }
  const service = await startService(config.right, createLog(config.right.logLevel, { write }), {
    clock: { now },
    deadlines,
    pauses,
    redis,
  })
  await knowGenerated(config.right.dataFolder)
  return service
}

const knowSecretsOf = (environment: Environment): void => {
  for (const name of ['OPERATOR_TOKEN', 'SECRETS_KEY', 'METRICS_TOKEN']) secretWatch.know(name, environment[name])
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'SMTP_URL']) {
    const url = environment[name]
    if (url !== undefined && URL.canParse(url)) secretWatch.know(`the password of ${name}`, new URL(url).password)
  }
}

const knowGenerated = async (folder: string): Promise<void> => {
  for (const name of ['operator-token', 'secrets-key']) {
    // One that is given is not made.
    const made = await readFile(join(folder, name), 'utf8').catch(() => undefined)
    secretWatch.know(`the file ${name}`, made)
  }
}
