// `pnpm mutants [room | room/file.ts]…`: changes the domain's code in small ways, one at a time, and says which changes no test notices.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { countRoom, diffOf, percentOf, tableOf } from './count.ts'
import type { RoomCount } from './count.ts'
import { readEquivalents } from './equivalents.ts'
import { isTarget, leastPercent, rooms } from './rooms.ts'
import { domain, runRoom } from './run-room.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { afresh: { type: 'boolean', default: false }, concurrency: { type: 'string', default: '2' } },
})
const print = (text: string): boolean => process.stdout.write(`${text}\n`)

const run = async (targets: readonly string[]): Promise<number> => {
  const unknown = targets.find((target) => !isTarget(target))
  if (unknown !== undefined) {
    print(`"${unknown}" is not one of the rooms ${rooms.join(', ')}, nor a file in one, such as trades/deal.ts`)
    return 2
  }
  const page = join(domain, 'mutants.md')
  const equivalents = existsSync(page) ? readEquivalents(readFileSync(page, 'utf8')) : []
  const counts: RoomCount[] = []
  for (const target of targets) {
    const results = await runRoom(target, equivalents, Number(values.concurrency), values.afresh)
    counts.push(countRoom(target, results, equivalents, (path) => readFileSync(path, 'utf8')))
  }
  for (const { survived } of counts) for (const mutant of survived) print(diffOf(mutant))
  print(`\n${tableOf(counts)}`)
  return counts.every((count) => percentOf(count) >= leastPercent) ? 0 : 1
}

process.exitCode = await run(positionals.length === 0 ? rooms : positionals)
