// The package's entry: JWT access tokens of one issuer, behind the domain's port.
export { createTokenVerifier, type IssuerTokenVerifier } from './token-verifier.ts'
