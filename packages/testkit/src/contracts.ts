// What an adapter and its fake must both keep, as vitest suites.
export * from './broker-contract.ts'
export * from './market-data-contract.ts'
export * from './trading-contract.ts'
export * from './position-trading-contract.ts'
export * from './rate-limiter-contract.ts'
