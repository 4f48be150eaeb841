// The package's entry: the service and what surrounds it, for benchmarks and fault runs.
export * from './client.ts'
export type { Measured } from './probe.ts'
export * from './program.ts'
export * from './receivers.ts'
export * from './service.ts'
export * from './users.ts'
export * from './waiting.ts'
