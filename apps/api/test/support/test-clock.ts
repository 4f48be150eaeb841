// A clock that stands still until a test moves it on, so that what is cached stays cached however slow the machine is.

export interface TestClock {
  readonly now: () => number
  readonly advance: (ms: number) => void
}

export const createTestClock = (startsAt: number | string): TestClock => {
  let at = typeof startsAt === 'number' ? startsAt : Date.parse(startsAt)
  return {
    now: () => at,
    advance: (ms) => {
      at += ms
    },
  }
}
