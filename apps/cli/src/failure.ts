// Why a command did not do what it was asked, in sentences for whoever called it: what was wrong,
// and what to do next.

/** 1: refused or failed. 2: the command was not called as it must be. */
export type FailureExit = 1 | 2

export interface FailureFields {
  readonly exit?: FailureExit
  /** As the service told it, or a word of ours: for programs. */
  readonly code: string
  /** What to do next. */
  readonly advice?: readonly string[]
  /** Each fault of a document, by its path. */
  readonly faults?: readonly Fault[]
  readonly requestId?: string | undefined
}

export interface Fault {
  readonly path: string
  readonly message: string
  /** Where in the file it stands. */
  readonly line?: number | undefined
}

export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly fields: FailureFields

  constructor(message: string, fields: FailureFields) {
    super(message)
    this.fields = fields
  }

  get exit(): FailureExit {
    return this.fields.exit ?? 1
  }
}

export const usageFailure = (message: string, ...advice: readonly string[]): CommandFailure =>
  new CommandFailure(message, { exit: 2, code: 'USAGE', advice })

// A message that begins with the path says it once.
const faultText = ({ path, message, line }: Fault): string =>
  `  ${line === undefined ? '' : `line ${line}: `}${message.startsWith(path) ? message : `${path}: ${message}`}`

/** For people. */
export const describeFailure = ({
  message,
  fields: { advice = [], faults = [], requestId },
}: CommandFailure): string =>
  [
    message,
    ...faults.map(faultText),
    ...advice,
    ...(requestId === undefined
      ? []
      : [`The service's log tells more of the request ${requestId}.`]),
  ].join('\n')

/** For programs. */
export const failureJson = ({
  message,
  fields: { code, faults, advice, requestId },
}: CommandFailure): string =>
  JSON.stringify({ error: { code, message, issues: faults, advice, request_id: requestId } })
