// The operator API: where it is, its token, and one request to it.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { codeOf, CommandFailure, usageFailure, type Issue } from './failure.ts'

const defaultUrl = 'http://127.0.0.1:3001'
const timeoutMs = 120_000
const pageSize = 1_000

// From `apps/cli/src` and from `apps/cli/dist` alike, in the repository's root.
const defaultDataFolder = resolve(import.meta.dirname, '../../../.data')

export interface Api {
  readonly url: string
  readonly get: <A>(path: string) => Promise<A>
  /** Every record of a list, page by page, at most `max`. */
  readonly list: <A>(path: string, query?: Query, max?: number) => AsyncGenerator<A, void, void>
  /**
   * @param whenLost what to do when the answer is lost and the outcome unknown; left out where the
   * request changes nothing
   */
  readonly post: <A>(path: string, body: unknown, whenLost?: string) => Promise<A>
}

type Query = Readonly<Record<string, unknown>>

interface Envelope {
  readonly success: boolean
  readonly data: unknown
  readonly meta?: { readonly pagination?: { readonly cursor?: string } }
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details?: { readonly issues?: readonly Issue[]; readonly outcome?: 'unknown' }
    readonly request_id?: string
  } | null
}

interface PostRequest {
  readonly body: unknown
  readonly whenLost?: string | undefined
}

interface ConnectionOptions {
  /** From `--url` and `--token-file`. */
  readonly url?: string
  readonly tokenFile?: string
  readonly env: NodeJS.ProcessEnv
  /** Where relative file names begin. */
  readonly folder: string
}

export const openApi = async (options: ConnectionOptions): Promise<Api> => {
  const url = readUrl(options.url ?? (options.env['OPERATOR_URL'] || defaultUrl), defaultUrl)
  const token = await readToken(options)

  const request = async (path: string, sent?: PostRequest): Promise<Envelope> => {
    const { status, text } = await send(`${url}/operator/v1${path}`, token.text, sent).catch(
      (error: unknown) => {
        throw lostAnswerFailure(url, error, sent?.whenLost)
      },
    )
    const envelope = parseEnvelope(text)
    if (envelope === undefined) {
      const answered = `${url} answered ${status} without the service's envelope`
      if (sent?.whenLost !== undefined)
        throw outcomeUnknown(answered, [otherListener, sent.whenLost])
      throw new CommandFailure('NOT_THE_API', `${answered}: it is not the operator API.`, {
        advice: [otherListener],
      })
    }
    if (envelope.error !== null)
      throw refusalFailure(envelope.error, { url, token, status, whenLost: sent?.whenLost })
    return envelope
  }

  // The shapes of the replies are the API's contract, and are not checked again here.
  return {
    url,
    get: async (path) => (await request(path)).data as never,
    post: async (path, body, whenLost) => (await request(path, { body, whenLost })).data as never,
    list: async function* <A>(path: string, query: Query = {}, max = Infinity) {
      let left = max
      for (let cursor: string | undefined; left > 0;) {
        const page = { ...query, cursor, limit: Math.min(left, pageSize) }
        const set = Object.entries(page).filter(([, value]) => value !== undefined)
        const search = new URLSearchParams(
          set.map(([name, value]): [string, string] => [name, String(value)]),
        )
        const { data, meta } = await request(`${path}?${search.toString()}`)
        const items = data as readonly A[]
        yield* items
        left -= items.length
        cursor = meta?.pagination?.cursor
        if (cursor === undefined) return
      }
    },
  }
}

export const readUrl = (text: string, example: string): string => {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw usageFailure(
      `The URL must be an http:// or https:// URL such as ${example}; got ${JSON.stringify(text)}.`,
    )
  if (url.username !== '' || url.password !== '')
    throw usageFailure('The URL must have no user name and no password.')
  if (/[?#]/.test(url.href)) throw usageFailure('The URL must have no query and no fragment.')
  return url.href.replace(/\/+$/, '')
}

/** An id as a segment of a path, in which these three would name another route. */
export const segmentOf = (id: string): string => {
  if (['', '.', '..'].includes(id))
    throw usageFailure(`An id must not be empty, . or ..; got ${JSON.stringify(id)}.`)
  return encodeURIComponent(id)
}

const otherListener =
  'Name the listener of OPERATOR_HOST and OPERATOR_PORT with --url or OPERATOR_URL.'
const tokenAdvice = [
  'Set OPERATOR_TOKEN to the token that the service was started with, or name a file that holds it with --token-file.',
  'A service that is started without OPERATOR_TOKEN keeps one in its DATA_DIR.',
]

interface Token {
  readonly text: string
  readonly source: string
}

const readToken = async ({ tokenFile, env, folder }: ConnectionOptions): Promise<Token> => {
  const given = env['OPERATOR_TOKEN'] ?? ''
  const dataFile = join(resolve(env['DATA_DIR'] || defaultDataFolder), 'operator-token')
  const isGiven = tokenFile === undefined && given !== ''
  const file = tokenFile === undefined ? dataFile : resolve(folder, tokenFile)
  const source = isGiven ? 'OPERATOR_TOKEN' : file
  const text = isGiven ? given : (await readTokenFile(file)).trim()
  // A header holds nothing else, and fetch would repeat the token in its error.
  if (!/^[!-~]+$/.test(text))
    throw noToken(
      `${source} must hold a token of visible ASCII characters, and holds something else.`,
    )
  return { text, source }
}

const readTokenFile = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw noToken(`There is no operator token: ${path} cannot be read (${codeOf(error)}).`)
  })

const noToken = (message: string) =>
  new CommandFailure('NO_TOKEN', message, { exit: 2, advice: tokenAdvice })

const send = async (url: string, token: string, sent: PostRequest | undefined) => {
  const response = await fetch(url, {
    method: sent === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: sent === undefined ? null : JSON.stringify(sent.body),
    // A redirect would carry the token to another host.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: response.status, text: await response.text() }
}

const parseEnvelope = (text: string): Envelope | undefined => {
  try {
    const envelope = JSON.parse(text) as Envelope
    return envelope.success === (envelope.error === null) ? envelope : undefined
  } catch {
    return undefined
  }
}

interface RefusedRequest {
  readonly url: string
  readonly token: Token
  readonly status: number
  readonly whenLost: string | undefined
}

const refusalFailure = (
  { code, message, details, request_id: requestId }: NonNullable<Envelope['error']>,
  { url, token, status, whenLost }: RefusedRequest,
): CommandFailure => {
  if (status === 401)
    return new CommandFailure(
      code,
      `The service at ${url} does not accept the token of ${token.source}.`,
      { advice: tokenAdvice },
    )
  const issues = details?.issues
  if (issues !== undefined)
    return new CommandFailure(
      code,
      `The service rejected the request (${issues.length} ${issues.length === 1 ? 'error' : 'errors'}):`,
      { issues, advice: ['Nothing was changed. Correct this and call again.'] },
    )
  if ((details?.outcome === 'unknown' || status === 500) && whenLost !== undefined)
    return outcomeUnknown(
      `The service at ${url} ${details?.outcome === 'unknown' ? 'lost its database while it recorded this' : `failed with ${code}`}`,
      [whenLost],
      requestId,
    )
  return new CommandFailure(code, `The service answered: ${message}`, {
    requestId: status >= 500 ? requestId : undefined,
    // The API for users has none of these paths, and another version may lack some.
    advice: message.startsWith('No route ') ? [otherListener] : [],
  })
}

const outcomeUnknown = (because: string, advice: readonly string[], requestId?: string) =>
  new CommandFailure('OUTCOME_UNKNOWN', `${because}: the change may have been made, or not.`, {
    advice,
    requestId,
  })

/**
 * Without a connection, or one whose certificate is accepted, or to a port that fetch forbids,
 * nothing was sent; after any other failure the change may have been made.
 */
const neverSent =
  /^(bad port|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_WRONG_VERSION_NUMBER|UNABLE_TO_VERIFY_LEAF_SIGNATURE|.*CERT.*)$/

export const unreachable = (url: string, error: unknown, advice: readonly string[]) =>
  new CommandFailure(
    'UNREACHABLE',
    `The service cannot be reached at ${url} (${causeCodeOf(error)}).`,
    { advice },
  )

const lostAnswerFailure = (
  url: string,
  error: unknown,
  whenLost: string | undefined,
): CommandFailure => {
  const code = causeCodeOf(error)
  if (whenLost === undefined || neverSent.test(code))
    return unreachable(url, error, [
      'Is it running? Start it with `pnpm start`, or say where its operator API listens with --url or OPERATOR_URL.',
    ])
  return outcomeUnknown(`The answer of the service at ${url} was lost (${code})`, [whenLost])
}

/** The code or, without one, the message of what made fetch fail. */
const causeCodeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.cause instanceof Error ? causeCodeOf(error.cause) : error.message
}
