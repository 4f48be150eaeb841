// When a task that is asked for again runs.
import { beforeEach, expect, it, vi } from 'vitest'
import { oneAtATime, throttled } from '../page/one-at-a-time.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return () => void vi.useRealTimers()
})

/** A task of a second, and how each run of it ended. */
const setUp = () => {
  const ends: string[] = []
  const task = oneAtATime(async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    ends.push(signal.aborted ? 'aborted' : 'done')
  })
  return { task, ends }
}

it.each([
  ['runAgain', ['done', 'done']],
  ['runUnlessRunning', ['done']],
  ['restart', ['aborted', 'aborted', 'done']],
  ['stop', ['aborted']],
] as const)('does by %s twice while it runs: %s', async (method, expected) => {
  const { task, ends } = setUp()
  task.restart()
  await vi.advanceTimersByTimeAsync(500)
  task[method]()
  task[method]()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(ends).toEqual(expected)
})

it('ends each run, however fast changes come', async () => {
  const { task, ends } = setUp()
  for (let change = 0; change < 50; change += 1) {
    task.runAgain()
    await vi.advanceTimersByTimeAsync(100)
  }
  await vi.advanceTimersByTimeAsync(10_000)
  expect(ends).toEqual(Array.from({ length: 6 }, () => 'done'))
})

it('acts soon after the first change, and then every ten seconds at most', async () => {
  const acts: number[] = []
  const changed = throttled(() => acts.push(performance.now()))
  const start = performance.now()
  for (let change = 0; change < 210; change += 1) {
    changed()
    await vi.advanceTimersByTimeAsync(100)
  }
  await vi.advanceTimersByTimeAsync(30_000)
  expect(acts.map((at) => at - start)).toEqual([400, 10_400, 20_400, 30_400])
})
