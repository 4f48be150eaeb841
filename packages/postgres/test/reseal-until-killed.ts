// Run as a process of its own by the test of sealed secrets: opens the folder named by its
// argument, seals one secret after another under the second key, each in a batch of its own, and
// prints how many it has sealed, until it is killed.
import * as E from 'fp-ts/lib/Either.js'
import type { SealedSecret } from '@tradeport/domain/operator'
import { createCipher, createSealedSecrets, openDatabase } from '../src/index.ts'

const [folder = ''] = process.argv.slice(2)
const { knex } = await openDatabase({ folder })
const cipher = createCipher(new Uint8Array(32).fill(2), [new Uint8Array(32).fill(1)])
const secrets = createSealedSecrets({ knex, cipher })
let after: SealedSecret | undefined
for (let sealed = 1; ; sealed += 1) {
  const batch = await secrets.reseal({ after, limit: 1 })()
  if (E.isLeft(batch)) throw new Error(batch.left.reason)
  after = batch.right.last
  process.stdout.write(`${sealed}\n`)
}
