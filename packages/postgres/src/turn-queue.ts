// Whose turn it is within this process: one at a time for each key, in the order in which they came, and nobody waits for longer than they want.

export interface Turn {
  /** For how long the key has been passed on within this process, without a rest, in milliseconds. */
  readonly streakMs: number
  /** Begins a new streak. */
  readonly rest: () => void
  /** Lets the next one in. Calling it again changes nothing. */
  readonly end: () => void
}

export interface TurnQueue {
  /** `undefined` when nobody let go within so many milliseconds. */
  readonly enter: (key: string, patienceMs: number) => Promise<Turn | undefined>
}

interface Lane {
  readonly waiting: Set<() => void>
  streakStartedAt: number
}

export const createTurnQueue = (): TurnQueue => {
  // A key has a lane for as long as it is somebody's turn.
  const lanes = new Map<string, Lane>()

  const turnIn = (key: string, lane: Lane): Turn => {
    let isOver = false
    return {
      streakMs: performance.now() - lane.streakStartedAt,
      rest: () => {
        lane.streakStartedAt = performance.now()
      },
      end: () => {
        if (isOver) return
        isOver = true
        const [next] = lane.waiting
        if (next === undefined) lanes.delete(key)
        else next()
      },
    }
  }

  return {
    enter: async (key, patienceMs) => {
      const lane = lanes.get(key)
      if (lane !== undefined) return (await waitIn(lane, patienceMs)) ? turnIn(key, lane) : undefined
      const fresh = { waiting: new Set<() => void>(), streakStartedAt: performance.now() }
      lanes.set(key, fresh)
      return turnIn(key, fresh)
    },
  }
}

const waitIn = ({ waiting }: Lane, patienceMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const leave = (isMyTurn: boolean): void => {
      waiting.delete(enter)
      clearTimeout(timer)
      resolve(isMyTurn)
    }
    const enter = (): void => leave(true)
    const timer = setTimeout(leave, patienceMs, false)
    waiting.add(enter)
  })
