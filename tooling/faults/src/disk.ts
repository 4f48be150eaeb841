// The run of a full disk under the embedded database: it is filled under load and freed again,
// several times, and the service is killed on it and started again. Nothing that was answered with
// 201 may be lost, and what callers and the operator are told must be what they can act on.
import { execFile } from 'node:child_process'
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { link, newUsers, startBroker, startFleet, stopFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { startLoad } from './load.ts'
import type { Load } from './load.ts'
import { backAfterMs } from './load-check.ts'
import { reportLoad, settledOrders } from './outcome.ts'
import { createRandom } from './random.ts'
import { inRun, say } from './run.ts'
import type { Run } from './run.ts'

export interface DiskRun {
  readonly seed: number
  /** How often the disk is filled; in the last of them the service is killed and started again. */
  readonly fills: number
  /** How soon writes must succeed once there is room again. */
  readonly withinMs: number
}

const userCount = 3
const keyMs = 2 * 60_000
const fullMs = 6_000
const scopes = ['trading:read', 'trading:write', 'accounts:read']
const diskMb = 400
const execute = promisify(execFile)

/**
 * What must be written is refused, and with it the reads that record something; the others go on.
 */
const allowed = {
  symbols: ['200'],
  order: ['201', '503 SERVICE_UNAVAILABLE', '409 IDEMPOTENCY_IN_PROGRESS'],
  account: ['200', '503 SERVICE_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED'],
  accounts: ['200', '503 SERVICE_UNAVAILABLE'],
  orders: ['200', '503 SERVICE_UNAVAILABLE'],
  '*': ['200'],
}

/** @returns whether every promise was kept */
export const runDisk = (asked: DiskRun): Promise<boolean> =>
  inRun(async (run) => {
    const disk = join(run.folder, 'disk')
    await mkdir(disk)
    const mounted = await execute('mount', [
      '-t',
      'tmpfs',
      '-o',
      `size=${diskMb}m`,
      'tmpfs',
      disk,
    ]).catch(() => undefined)
    if (mounted === undefined) {
      say('left out: only root can mount a disk of its own here, and not in every container')
      return []
    }
    run.closeLater(() => execute('umount', [disk]))
    return onDisk(run, asked, disk)
  })

const onDisk = async (
  run: Run,
  { seed, fills, withinMs }: DiskRun,
  disk: string,
): Promise<readonly string[]> => {
  const random = createRandom(seed)
  const users = newUsers(userCount)
  const sandbox = await startBroker(run, seed, users)
  const fleet = await startFleet(run, {
    databaseUrl: null,
    providerUrl: sandbox.url,
    dataFolder: join(disk, 'data'),
  })
  const broken: string[] = []
  await link(fleet, users, scopes)
  const load = startLoad(fleet, users)
  await pause(2_000)
  for (let index = 0; index < fills; index += 1) {
    const isLast = index === fills - 1
    const leftKb = random.whole(0, 4_000)
    const free = fill(disk, leftKb)
    await pause(fullMs)
    if (fleet.slots[0]?.logged().includes(advice) !== true)
      broken.push('the log does not say that the disk is full, and what to do')
    if (isLast) broken.push(...(await killedOnFullDisk(fleet)))
    free()
    if (isLast) fleet.slots[0] = await fleet.start()
    broken.push(
      ...(await backAgain(
        load,
        `fill ${index + 1}, to ${leftKb} kB${isLast ? ', with a kill' : ''}`,
        withinMs,
      )),
    )
  }
  await load.stop()
  await load.sendAgain(keyMs)
  const orders = await settledOrders(fleet, users)
  say(`seed ${seed}, embedded database on a disk of ${diskMb} MB, filled ${fills} times`)
  broken.push(...reportLoad(load, allowed, orders, sandbox))
  // What is there opens again.
  await stopFleet(fleet)
  fleet.slots[0] = await fleet.start()
  const again = await settledOrders(fleet, users)
  return again.length === orders.length
    ? broken
    : [...broken, `${orders.length} orders before the last start, ${again.length} after it`]
}

/** Leaves so much on the disk. @returns what frees it again */
const fill = (disk: string, leftKb: number): (() => void) => {
  const path = join(disk, 'filler')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4 * 1_024)
  try {
    const { bavail, bsize } = statfsSync(disk)
    for (let left = bavail * bsize - leftKb * 1_024; left > 0; left -= block.length)
      writeSync(file, block)
  } finally {
    closeSync(file)
  }
  return () => rmSync(path, { force: true })
}

const advice = 'free space on it'

/** A start on the full disk must end with a sentence. */
const killedOnFullDisk = async (fleet: Fleet): Promise<readonly string[]> => {
  const [instance] = fleet.slots
  fleet.slots[0] = null
  await instance?.kill()
  const ended = await fleet.start().then(
    async (started) => {
      await started.kill()
      return ''
    },
    (error: unknown) => String(error),
  )
  return ended.includes(advice)
    ? []
    : [`a start on the full disk did not end with what to do: ${ended.slice(0, 500)}`]
}

/** Waits until an order is taken again. */
const backAgain = async (
  { replies }: Load,
  what: string,
  withinMs: number,
): Promise<readonly string[]> => {
  const freedAt = performance.now()
  for (;;) {
    const backMs = backAfterMs(replies, freedAt, { what: 'order', slot: 0, outcome: '201' })
    if (backMs !== null)
      say(`${what}: orders are taken again ${Math.round(backMs)} ms after there is room`)
    if (backMs !== null) return []
    if (performance.now() - freedAt > withinMs)
      return [`${what}: no order is taken ${withinMs} ms after there is room`]
    await pause(100)
  }
}
