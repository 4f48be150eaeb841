// Ending what was opened.
import { expect, it } from 'vitest'
import { closeInReverse } from '../src/closers.ts'

it('ends everything, the last opened first, also where some of it fails, and tells the first failure', async () => {
  const ended: string[] = []
  const closer = (name: string, failure?: string) => async () => {
    ended.push(name)
    if (failure !== undefined) throw new Error(failure)
  }
  const closers = [
    closer('database'),
    closer('jobs', 'no jobs'),
    closer('sandbox', 'disk full'),
    closer('listeners'),
  ]
  await expect(closeInReverse(closers)).rejects.toThrow('disk full')
  expect(ended).toEqual(['listeners', 'sandbox', 'jobs', 'database'])
  await closeInReverse(closers)
  expect(ended).toHaveLength(4)
})
