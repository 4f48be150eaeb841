// Why a command failed, and what to do next.

/** What is wrong at one place of a document. */
export interface Issue {
  readonly path: string
  readonly message: string
  /** In the file that was read. */
  readonly line?: number | undefined
}

interface Fields {
  /** 1: refused or failed. 2: the command was called wrongly. */
  readonly exit?: 1 | 2
  readonly advice?: readonly string[]
  readonly issues?: readonly Issue[] | undefined
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

export const isNotFound = (error: unknown): error is CommandFailure =>
  error instanceof CommandFailure && error.code === 'NOT_FOUND'

export const usageFailure = (message: string, advice: readonly string[] = []) =>
  new CommandFailure('USAGE', message, { exit: 2, advice })

/** Runs the work; a failure of it has its issues renamed. */
export const withIssues = async <A>(
  rename: (issue: Issue) => Issue,
  work: () => Promise<A>,
): Promise<A> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.fields.issues === undefined) throw error
    const issues = error.fields.issues.map(rename)
    throw new CommandFailure(error.code, error.message, { ...error.fields, issues })
  }
}

/** The code of a system's error. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown'

// A message that begins with the path does not need it twice.
const issueText = ({ path, message, line }: Issue): string =>
  `  ${line === undefined ? '' : `line ${line}: `}${message.startsWith(path) ? message : `${path}: ${message}`}`

export const describeFailure = (
  { code, message, fields: { advice = [], issues = [], requestId } }: CommandFailure,
  isJson: boolean,
): string => {
  if (isJson) {
    const listed = issues.length === 0 ? undefined : issues
    return JSON.stringify({
      error: { code, message, issues: listed, advice, request_id: requestId },
    })
  }
  const log = requestId && `The service's log has more about the request ${requestId}.`
  return [message, ...issues.map(issueText), ...advice, ...(log ? [log] : [])].join('\n')
}
