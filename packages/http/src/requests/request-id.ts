// The id under which a request is answered and logged (2.1; decision 3).

export const longestRequestId = 128
/** Of an id that a caller may bring along. */
export const requestIdPattern = new RegExp(`^[A-Za-z0-9._:-]{1,${longestRequestId}}$`)

/** The caller's own id where it is well-formed, a new one otherwise. */
export const requestIdOf = (sent: string | readonly string[] | undefined, newRequestId: () => string): string =>
  typeof sent === 'string' && requestIdPattern.test(sent) ? sent : newRequestId()
