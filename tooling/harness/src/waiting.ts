// What every run needs: a folder of its own, waiting, and whole lists.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export const newFolder = async (stack: AsyncDisposableStack): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-run-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Reads until there is a value or the time is over; at least once. */
export const eventually = async <A>(
  withinMs: number,
  read: () => Promise<A | undefined> | A | undefined,
  pauseMs = 100,
): Promise<A | undefined> => {
  const deadline = performance.now() + withinMs
  for (;;) {
    const value = await read()
    if (value !== undefined || performance.now() > deadline) return value
    await pause(pauseMs)
  }
}

export const collect = async <A>(items: AsyncIterable<A>): Promise<readonly A[]> => {
  const all: A[] = []
  for await (const item of items) all.push(item)
  return all
}
