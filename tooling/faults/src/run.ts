// What every fault run has: a folder, things that are ended with it, and a verdict at its end.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Run {
  readonly folder: string
  /** Closes in the end, the newest first. */
  readonly closeLater: (close: () => Promise<unknown>) => void
}

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

/**
 * @param body returns sentences, each a broken promise
 * @returns whether every promise was kept
 */
export const inRun = async (body: (run: Run) => Promise<readonly string[]>): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-faults-'))
  const closers = [() => rm(folder, { recursive: true, force: true })]
  try {
    const broken = await body({
      folder,
      closeLater: (close) => void closers.push(async () => void (await close())),
    })
    for (const fault of broken) say(`  broken: ${fault}`)
    say(broken.length === 0 ? 'every promise was kept' : `${broken.length} promises were broken`)
    return broken.length === 0
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}
