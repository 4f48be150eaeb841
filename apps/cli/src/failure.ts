// Why a command failed, and what to do next.

/** One fault of a document. */
export interface Fault {
  readonly path: string
  readonly message: string
  /** In the file that was read. */
  readonly line?: number | undefined
}

interface Fields {
  /** 1: refused or failed. 2: the command was called wrongly. */
  readonly exit?: 1 | 2
  readonly advice?: readonly string[]
  readonly faults?: readonly Fault[] | undefined
  /** For finding the request in the service's log. */
  readonly requestId?: string | undefined
}

export class CommandFailure extends Error {
  /** For programs: the service's error code, or one of the command line. */
  readonly code: string
  readonly fields: Fields

  constructor(code: string, message: string, fields: Fields = {}) {
    super(message)
    this.code = code
    this.fields = fields
  }
}

export const usageFailure = (...lines: readonly [message: string, ...advice: string[]]) => {
  const [message, ...advice] = lines
  return new CommandFailure('USAGE', message, { exit: 2, advice })
}

/** The code of a system's error. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown'

// A message that begins with the path does not need it twice.
const faultText = ({ path, message, line }: Fault): string =>
  `  ${line === undefined ? '' : `line ${line}: `}${message.startsWith(path) ? message : `${path}: ${message}`}`

export const describeFailure = (
  { code, message, fields: { advice = [], faults = [], requestId } }: CommandFailure,
  isJson: boolean,
): string => {
  if (isJson) {
    const issues = faults.length === 0 ? undefined : faults
    return JSON.stringify({ error: { code, message, issues, advice, request_id: requestId } })
  }
  const log = requestId && `The service's log has more about the request ${requestId}.`
  return [message, ...faults.map(faultText), ...advice, ...(log ? [log] : [])].join('\n')
}
