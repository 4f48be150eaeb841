// Run as a process of its own by the folder tests: opens the folder named by its argument, writes
// one tenant after another, and prints each once its write is acknowledged, until it is killed.
import { openDatabase } from '../src/index.ts'

const { knex } = await openDatabase({ folder: process.argv[2] ?? '' })
for (let number = 1; ; number += 1) {
  const id = `tenant-${number}`
  await knex('tenants').insert({ id, name: 'Acme' })
  process.stdout.write(`${id}\n`)
}
