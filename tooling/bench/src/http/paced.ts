// What paced-client.ts is given and prints.

/** A request that is not answered with 200 counts as one that took this long. */
export const deadlineMs = 60_000

export interface PacedOptions {
  readonly url: string
  readonly perSecond: number
  readonly seconds: number
  /** Without it each request has another key that nobody issued. */
  readonly key?: string
  /** The address to send from. */
  readonly localAddress?: string | undefined
}

export interface Paced {
  readonly medianMs: number
  readonly p99Ms: number
  /** How many requests were answered with each status; 0 stands for no answer. */
  readonly statuses: Readonly<Record<string, number>>
}
