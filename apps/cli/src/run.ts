// Runs one call and gives its exit code: 0 done, 1 refused or failed, 2 wrong usage.
import { CommanderError } from 'commander'
import { CommandFailure, describeFailure, failureJson } from './failure.ts'
import { createProgram } from './program.ts'
import type { World } from './world.ts'

/** @param words what stands after the program's name */
export const run = async (words: readonly string[], world: World): Promise<number> => {
  const isJson = words.includes('--json')
  try {
    await createProgram(world).parseAsync([...words], { from: 'user' })
    return 0
  } catch (error) {
    // Commander has told what was wrong; help that was asked for is no failure.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const failure =
      error instanceof CommandFailure
        ? error
        : new CommandFailure('The command failed in a way that nobody foresaw.', {
            code: 'INTERNAL',
            advice: [String(error)],
          })
    world.err(`${isJson ? failureJson(failure) : describeFailure(failure)}\n`)
    return failure.exit
  }
}
