// How much memory a process holds now, as its operating system counts it.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const bytesPerKilobyte = 1_024

/** In bytes. */
export const residentBytes = async (pid: number): Promise<number> =>
  bytesPerKilobyte * ((await ofProc(pid)) ?? (await ofPs(pid)))

const ofProc = async (pid: number): Promise<number | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes)
}

const ofPs = async (pid: number): Promise<number> =>
  Number((await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])).stdout)
