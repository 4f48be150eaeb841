// Which rooms of the domain are held to the bar, and what of the tests each has to itself.

/** The rooms whose mutants must be found, in the order in which they are run. */
export const rooms = ['trades', 'statistics', 'orders', 'positions', 'webhooks', 'access'] as const

/** Of a room's mutants, less those that nobody could tell from the code, as many must be found by its tests. */
export const leastPercent = 90

/** A room, or a file in one: `trades`, `trades/deal.ts`. */
export const filesOf = (target: string): string => (target.endsWith('.ts') ? `src/${target}` : `src/${target}/**/*.ts`)

export const roomOf = (target: string): string => target.split('/')[0] ?? ''

export const isTarget = (target: string): boolean => rooms.some((room) => room === roomOf(target))

/** A room's own tests, from the package's folder. */
export const testsOfRoom = (room: string): string[] => [`test/${room}/**/*.test.ts`]
