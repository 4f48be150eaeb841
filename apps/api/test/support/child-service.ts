// The service as its operator starts it, whose output is watched for secrets.
import { createInterface } from 'node:readline'
import { spawnService as spawnUnwatched } from '@tradeport/testkit/programs'
import type { Environment } from '../../src/config.ts'
import { secretWatch } from './secret-watch.ts'

export type ChildService = ReturnType<typeof spawnService>

export const spawnService = (environment: Environment) => {
  const service = spawnUnwatched(environment)
  service.process.stderr.on('data', (chunk: Buffer) =>
    secretWatch.hear('the error output of a process', chunk.toString()),
  )
  // Lines of the log are JSON. The others are the welcome of the demo, which shows its key to
  // whoever starts it.
  createInterface(service.process.stdout).on('line', (line) => {
    if (line.startsWith('{')) secretWatch.hear('the log of a process', line)
    else secretWatch.know('the key of the demo', /tp_live_[\w-]+/.exec(line)?.[0])
  })
  return service
}
