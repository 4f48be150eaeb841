// The package's entry for tests: fakes and numbered contract suites.
export * from './broker-contract.ts'
export * from './fake-broker.ts'
