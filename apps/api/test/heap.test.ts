// How far the heap may run ahead of what is in use does not depend on how much memory the machine has.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const program = fileURLToPath(new URL('support/grow-heap.ts', import.meta.url))
const megabyte = 1_024 * 1_024

/** Of a process that Node lets have what it lets one have on a machine with much memory. */
const mostNewSpace = async (...parameters: readonly string[]): Promise<number> => {
  const options = ['--max-semi-space-size=64', '--experimental-strip-types', program]
  const { stdout } = await promisify(execFile)(process.execPath, [...options, ...parameters])
  return Number(stdout)
}

describe('the heap', () => {
  it('has a new space that stops growing, where it would else grow with the machine', async () => {
    expect(await mostNewSpace('bound')).toBeLessThan(24 * megabyte)
    expect(await mostNewSpace()).toBeGreaterThan(48 * megabyte)
  }, 240_000)
})
