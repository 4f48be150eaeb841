// What the adapter says to the operator beside its answers. A pino logger fits; nothing written
// here holds a token.

export interface LogEvent {
  readonly event: string
  readonly reason: string
}

export interface Log {
  readonly warn: (event: LogEvent) => void
}
