// The id under which a request is answered and logged (2.1; decision 3).

const wellFormed = /^[A-Za-z0-9._:-]{1,128}$/

/** The caller's own id where it is well-formed, a new one otherwise. */
export const requestIdOf = (sent: string | readonly string[] | undefined, newRequestId: () => string): string =>
  typeof sent === 'string' && wellFormed.test(sent) ? sent : newRequestId()
