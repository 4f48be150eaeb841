// Three receivers of webhooks on loopback, which speak HTTPS with a certificate of an authority of the run's own: one fails always, one is slow, one is
// fine. They keep everything that came.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import type { Random } from './random.ts'

export const receiverNames = ['failing', 'slow', 'fine'] as const
export type ReceiverName = (typeof receiverNames)[number]

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Receivers {
  /** For NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string
  readonly urlOf: (name: ReceiverName) => string
  readonly received: (name: ReceiverName) => readonly Received[]
  readonly close: () => Promise<void>
}

const ec = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

export const startReceivers = async (authorityFile: string, random: Random): Promise<Receivers> => {
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
  const start = async (name: ReceiverName) => {
    const received: Received[] = []
    const server = createServer({ key: certificate.private, cert: certificate.cert }, (request, response) => {
      const receive = async (): Promise<void> => {
        received.push({ headers: request.headers, body: await readAll(request) })
        answers[name](response)
      }
      // A sender that was killed in the middle of its request has sent nothing.
      receive().catch(() => response.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { received, server, url: `https://localhost:${(server.address() as AddressInfo).port}/hook` }
  }
  const started = { failing: await start('failing'), slow: await start('slow'), fine: await start('fine') }
  return {
    authorityFile,
    urlOf: (name) => started[name].url,
    received: (name) => started[name].received,
    close: async () => {
      for (const { server } of Object.values(started)) {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      }
    },
  }
}

const readAll = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
