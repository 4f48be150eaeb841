// The metrics of an instance in Prometheus' format, beside the API: for whoever can reach the listener, or for holders of a token.
import { isBearerOf } from './access/doors.ts'
import type { PlainReply } from './replies/reply.ts'
import type { PlainRoutes } from './routing/plain-routes.ts'

export interface MetricsSource {
  readonly contentType: string
  readonly text: () => Promise<string>
}

/** @param token a secret, compared in constant time; null asks for none */
export const metricsRoute = ({ contentType, text }: MetricsSource, token: string | null): PlainRoutes => {
  const mayRead = token === null ? () => true : isBearerOf(token)
  return {
    '/metrics': async ({ headers }) => (mayRead(headers) ? plain(200, await text(), { 'Content-Type': contentType }) : refused),
  }
}

const plain = (status: number, body: string, headers: Readonly<Record<string, string>>): PlainReply => ({
  kind: 'plain',
  status,
  headers,
  body,
})

const refused = plain(401, 'Send the token that METRICS_TOKEN names as Authorization: Bearer.\n', {
  'Content-Type': 'text/plain; charset=utf-8',
  'WWW-Authenticate': 'Bearer',
})
