// Whether the queues are being looked at: whoever works on one tells of every look that went well, and one that goes without has stopped.
export interface Pulse {
  /** Work on the queue begins, or a look at it went well. */
  readonly beat: (queue: string) => void
  /** Nobody works on the queue here any longer, and nothing is missed. */
  readonly end: (queue: string) => void
  /** The queues that have been without a good look for so long. */
  readonly silentFor: (ms: number) => readonly string[]
}

export const createPulse = (): Pulse => {
  const beats = new Map<string, number>()
  return {
    beat: (queue) => void beats.set(queue, performance.now()),
    end: (queue) => void beats.delete(queue),
    silentFor: (ms) => [...beats].filter(([, at]) => performance.now() - at >= ms).map(([queue]) => queue),
  }
}
