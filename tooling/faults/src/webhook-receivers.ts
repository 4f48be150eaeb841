// Three receivers of webhooks on loopback, which speak HTTPS with a certificate of an authority of
// the run's own: one fails always, one is slow, one is fine. They keep everything that came.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { generate } from 'selfsigned'
import type { Random } from './random.ts'
import type { Run } from './run.ts'

export type ReceiverName = 'failing' | 'slow' | 'fine'

export interface Received {
  readonly name: ReceiverName
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Receivers {
  /** For NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string
  readonly urlOf: (name: ReceiverName) => string
  /** In the order of arrival. */
  readonly received: () => readonly Received[]
}

const ec = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

export const startReceivers = async (
  { folder, closeLater }: Run,
  random: Random,
): Promise<Receivers> => {
  const authorityFile = join(folder, 'authority.pem')
  const authority = await generate([{ name: 'commonName', value: 'Authority of this run' }], {
    ...ec,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true },
    ],
  })
  await writeFile(authorityFile, authority.cert)
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...ec,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  })
  const answers: Record<ReceiverName, (response: ServerResponse) => void> = {
    failing: (response) => void response.writeHead(503).end(),
    slow: (response) => void setTimeout(() => response.end(), random.whole(50, 400)),
    fine: (response) => void response.end(),
  }
  const received: Received[] = []
  const start = async (name: ReceiverName): Promise<string> => {
    const server = createServer(
      { key: certificate.private, cert: certificate.cert },
      (request, response) => {
        const receive = async (): Promise<void> => {
          received.push({ name, headers: request.headers, body: await buffer(request) })
          answers[name](response)
        }
        // A sender that was killed in the middle of its request has sent nothing.
        receive().catch(() => response.destroy())
      },
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closeLater(async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    })
    return `https://localhost:${(server.address() as AddressInfo).port}/hook`
  }
  const urls = {
    failing: await start('failing'),
    slow: await start('slow'),
    fine: await start('fine'),
  }
  return { authorityFile, urlOf: (name) => urls[name], received: () => received }
}
