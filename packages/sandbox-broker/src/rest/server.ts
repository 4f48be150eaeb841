// The HTTP edge: one listener that plays all of the provider's hosts. Region from the path's first segment or the host's name.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Core, Grant } from '../core.ts'
import type { Context, Route } from './context.ts'
import { historyRoutes } from './history-routes.ts'
import { marketRoutes } from './market-routes.ts'
import { provisioningRoutes, visibleAccount } from './provisioning-routes.ts'
import { accountNotFound, internalError, invalid, methodNotAllowed, notConnected, notFound, unauthorized, type Reply } from './reply.ts'
import { createRouter } from './router.ts'
import { terminalRoutes } from './terminal-routes.ts'

const BODY_BYTES_MAX = 1_048_576

const match = createRouter<Route>([...terminalRoutes, ...historyRoutes, ...marketRoutes, ...provisioningRoutes])

export const createRestServer = (core: Core): Server => {
  const server = createServer((request, response) => {
    answer(core, request).then(
      (reply) => send(response, reply),
      (error: unknown) => send(response, internalError(error instanceof Error ? error.message : 'unknown')),
    )
  })
  // Clients keep connections for long; the one who closes first must not be us, or a request would meet a reset.
  server.keepAliveTimeout = 65_000
  return server
}

const answer = async (core: Core, request: IncomingMessage): Promise<Reply> => {
  const url = new URL(request.url ?? '/', 'http://sandbox')
  const { region, segments } = placeOf(core, request, url)
  if (segments === undefined) return invalid([{ parameter: 'path', message: 'Value is not well encoded' }])
  const matched = match(request.method ?? 'GET', segments)
  const params = matched.kind === 'route' ? matched.params : {}
  const accountId = params['accountId']
  const entry = core.requests.record({
    at: core.now(),
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    route: matched.kind === 'route' ? matched.route.name : 'unknown',
    ...(accountId !== undefined && { accountId }),
  })
  const reply = await respond()
  entry.status = reply.status
  return reply

  async function respond(): Promise<Reply> {
    if (matched.kind === 'none') return notFound('There is no such path')
    if (matched.kind === 'method') return methodNotAllowed()
    const grant = grantOf(core, request)
    if (grant === undefined) return unauthorized()
    const body = request.method === 'POST' ? await readJson(request) : undefined
    const context: Context = { core, grant, at: core.now(), params, query: url.searchParams, headers: request.headers, body }
    if (matched.route.api === 'provisioning') return matched.route.handle(context)
    const account = visibleAccount(core, grant, accountId ?? '')
    if (account === undefined) return accountNotFound(accountId ?? '')
    const { deployment } = account
    if (deployment.state !== 'DEPLOYED' || deployment.connectionStatus !== 'CONNECTED') return notConnected(accountId ?? '')
    if (region !== undefined && region !== deployment.region) return notConnected(accountId ?? '')
    return matched.route.handle({ ...context, account })
  }
}

const placeOf = (
  core: Core,
  request: IncomingMessage,
  url: URL,
): { readonly region: string | undefined; readonly segments: readonly string[] | undefined } => {
  const segments = decodeSegments(url.pathname)
  const first = segments?.[0]
  if (first !== undefined && core.regions.has(first)) return { region: first, segments: segments?.slice(1) }
  const labels = (request.headers.host ?? '').split(':')[0]?.split('.') ?? []
  return { region: labels.find((label) => core.regions.has(label)), segments }
}

const decodeSegments = (pathname: string): readonly string[] | undefined => {
  try {
    return pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent)
  } catch {
    return undefined
  }
}

const grantOf = (core: Core, request: IncomingMessage): Grant | undefined => {
  const token = request.headers['auth-token']
  return typeof token === 'string' ? core.tokens.get(token) : undefined
}

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > BODY_BYTES_MAX) return undefined
    chunks.push(bytes)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

const send = (response: ServerResponse, reply: Reply): void => {
  const text = reply.text ?? (reply.body === undefined ? '' : JSON.stringify(reply.body))
  const bytes = Buffer.from(text)
  response.writeHead(reply.status, {
    ...(bytes.length > 0 && { 'content-type': 'application/json' }),
    ...(reply.status !== 204 && { 'content-length': bytes.length }),
    ...reply.headers,
  })
  response.end(bytes)
}
