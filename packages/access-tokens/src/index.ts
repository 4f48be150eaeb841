// The package's entry: JWT access tokens of one issuer, behind the domain's port.
export { createTokenVerifier } from './token-verifier.ts'
export type { TokenVerifierOptions } from './token-verifier.ts'
export type { Log, LogEvent } from './log.ts'
