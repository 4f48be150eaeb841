// Where the operator API is and by which token, and one request to it: whatever comes back is the
// reply's data or a sentence that says why not.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CommandFailure, usageFailure } from './failure.ts'
import type { Fault } from './failure.ts'
import type { World } from './world.ts'

export interface ConnectionOptions {
  readonly url?: string | undefined
  readonly tokenFile?: string | undefined
}

export interface Piece<A> {
  readonly items: readonly A[]
  readonly cursor: string | undefined
}

export interface OperatorApi {
  readonly url: string
  readonly get: <A>(path: string) => Promise<A>
  readonly getPiece: <A>(path: string, query: Query) => Promise<Piece<A>>
  /** @param whenLost what to do when it cannot be known whether the service has done it */
  readonly post: <A>(path: string, body: unknown, whenLost: string) => Promise<A>
}

export type Query = Readonly<Record<string, string | number | undefined>>

const prefix = '/operator/v1'
const timeoutMs = 120_000
const defaultUrl = 'http://127.0.0.1:3001'

interface Token {
  readonly text: string
  /** Where it is from, for sentences. */
  readonly source: string
}

export const connect = async (world: World, options: ConnectionOptions): Promise<OperatorApi> => {
  const url = readUrl(options.url ?? world.environment['OPERATOR_URL'] ?? defaultUrl)
  const token = await readToken(world, options)
  const ask = (path: string, sent?: Sent): Promise<Envelope> => request({ url, token, sent }, path)
  // What the API answers on a path is its contract; it is not looked at again here.
  return {
    url,
    get: async (path) => (await ask(path)).data as never,
    getPiece: async (path, query) => {
      const { data, meta } = await ask(`${path}${queryText(query)}`)
      return { items: data as never, cursor: meta?.pagination?.cursor }
    },
    post: async (path, body, whenLost) => (await ask(path, { body, whenLost })).data as never,
  }
}

const readUrl = (text: string): string => {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw usageFailure(
      `${JSON.stringify(text)} is no address of the operator API.`,
      `It takes an http:// or https:// URL such as ${defaultUrl}.`,
    )
  if (url.username !== '' || url.password !== '')
    throw usageFailure('The URL takes no user name and no password.')
  return text.replace(/\/+$/, '')
}

const queryText = (query: Query): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search.toString()}`
}

// A file that is named counts before the environment, and that before what the service keeps.
const readToken = async (world: World, { tokenFile }: ConnectionOptions): Promise<Token> => {
  if (tokenFile !== undefined) {
    const path = resolve(world.folder, tokenFile)
    return { text: await readTokenFile(path), source: path }
  }
  const given = world.environment['OPERATOR_TOKEN'] ?? ''
  if (given !== '') return { text: requireToken(given, 'OPERATOR_TOKEN'), source: 'OPERATOR_TOKEN' }
  const path = join(
    resolve(world.environment['DATA_DIR'] || world.defaultDataFolder),
    'operator-token',
  )
  return { text: await readTokenFile(path), source: path }
}

const howToGiveToken =
  'Set OPERATOR_TOKEN to the token that the service was started with, or name a file that holds it with --token-file.'

const readTokenFile = async (path: string): Promise<string> => {
  try {
    return requireToken((await readFile(path, 'utf8')).trim(), path)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new CommandFailure(
      `There is no token to show to the service: ${path} cannot be read (${reason}).`,
      {
        code: 'NO_TOKEN',
        advice: [
          howToGiveToken,
          'A service that is started without OPERATOR_TOKEN keeps one in its DATA_DIR.',
        ],
      },
    )
  }
}

// A header takes nothing else, and would name the token in its complaint.
const requireToken = (text: string, source: string): string => {
  if (/^[!-~]+$/.test(text)) return text
  throw new CommandFailure(`What ${source} holds is no token: it takes visible characters alone.`, {
    code: 'NO_TOKEN',
    advice: [howToGiveToken],
  })
}

interface Envelope {
  readonly success: boolean
  readonly data: unknown
  readonly meta?: { readonly pagination?: { readonly cursor?: string } }
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details?: { readonly issues?: readonly Fault[]; readonly outcome?: 'unknown' }
    readonly request_id?: string
  } | null
}

interface Sent {
  readonly body: unknown
  readonly whenLost: string
}

interface Asking {
  readonly url: string
  readonly token: Token
  /** Undefined where nothing is sent but the question. */
  readonly sent: Sent | undefined
}

const request = async (asking: Asking, path: string): Promise<Envelope> => {
  const { url, token, sent } = asking
  const authorization = { Authorization: `Bearer ${token.text}` }
  let status: number
  let text: string
  try {
    const response = await fetch(`${url}${prefix}${path}`, {
      ...(sent === undefined
        ? { headers: authorization }
        : {
            method: 'POST',
            headers: { ...authorization, 'Content-Type': 'application/json' },
            body: JSON.stringify(sent.body),
          }),
      // A redirect would carry the token to wherever it points.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    status = response.status
    text = await response.text()
  } catch (error) {
    throw lost(url, error, sent?.whenLost)
  }
  const envelope = readEnvelope(text)
  if (envelope === undefined) throw notTheApi(asking, status)
  if (envelope.error !== null) throw refused(asking, status, envelope.error)
  return envelope
}

const readEnvelope = (text: string): Envelope | undefined => {
  try {
    const envelope = JSON.parse(text) as Envelope
    return typeof envelope.success === 'boolean' && envelope.success === (envelope.error === null)
      ? envelope
      : undefined
  } catch {
    return undefined
  }
}

const notTheApi = ({ url, sent }: Asking, status: number): CommandFailure =>
  new CommandFailure(
    `What answers at ${url} is not the operator API: it answered ${status} and no envelope of the service.`,
    {
      code: 'NOT_THE_API',
      advice: [
        'Name the listener of OPERATOR_HOST and OPERATOR_PORT with --url or OPERATOR_URL.',
        ...(sent === undefined ? [] : [sent.whenLost]),
      ],
    },
  )

const refused = (
  { url, token, sent }: Asking,
  status: number,
  error: NonNullable<Envelope['error']>,
): CommandFailure => {
  const { code, message, details, request_id: requestId } = error
  if (status === 401)
    return new CommandFailure(`The service at ${url} does not take the token of ${token.source}.`, {
      code,
      advice: [howToGiveToken],
    })
  const faults = details?.issues
  if (faults !== undefined) {
    const advice = ['Nothing was changed. Mend this and call again.']
    return new CommandFailure(
      `The service refuses it${faults.length === 1 ? '' : `, for ${faults.length} faults`}:`,
      {
        code,
        faults,
        advice,
      },
    )
  }
  if (details?.outcome === 'unknown' && sent !== undefined)
    return new CommandFailure(
      `The service at ${url} lost its database while it recorded this: it may have done what was asked, or not.`,
      {
        code: 'OUTCOME_UNKNOWN',
        advice: [sent.whenLost],
        requestId,
      },
    )
  return new CommandFailure(`The service answered: ${message}`, {
    code,
    requestId: status >= 500 ? requestId : undefined,
  })
}

// Where no connection was made nothing was sent; otherwise it may have been done, and that is what
// is told.
const neverSent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

const lost = (url: string, error: unknown, whenLost: string | undefined): CommandFailure => {
  const code = codeOf(error)
  if (whenLost === undefined || neverSent.has(code))
    return new CommandFailure(`The service cannot be reached at ${url} (${code}).`, {
      code: 'UNREACHABLE',
      advice: [
        'Is it running? Start it with `pnpm start`, or say where its operator API listens with --url or OPERATOR_URL.',
      ],
    })
  return new CommandFailure(
    `The answer of the service at ${url} was lost (${code}): it may have done what was asked, or not.`,
    {
      code: 'OUTCOME_UNKNOWN',
      advice: [whenLost],
    },
  )
}

const codeOf = (error: unknown): string => {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 4; depth += 1) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code
    if (cause instanceof AggregateError && cause.errors[0] instanceof Error) cause = cause.errors[0]
    else if (cause.cause instanceof Error) cause = cause.cause
    else return cause.name
  }
  return 'unknown'
}
