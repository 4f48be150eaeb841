// A receiver of webhooks on loopback: real HTTPS with a certificate from an authority of the run's own, which the service is told to trust as any
// operator would.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { contractWatch } from './hear-reply.ts'

export interface ReceivedDelivery {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** As it came, byte for byte. */
  readonly body: Buffer
}

export interface WebhookReceiver {
  /** `https://localhost:…`, without a slash at its end. */
  readonly origin: string
  /** The same by address. */
  readonly originByAddress: string
  readonly received: ReceivedDelivery[]
  /** How everything from now on is answered; 200 before that. */
  readonly answer: (answer: (response: ServerResponse) => void) => void
  readonly close: () => Promise<void>
}

export interface Authority {
  /** For NODE_EXTRA_CA_CERTS. */
  readonly file: string
  readonly key: string
  readonly cert: string
}

const ec = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

/** Writes its certificate into the folder. */
export const createAuthority = async (folder: string): Promise<Authority> => {
  const made = await generate([{ name: 'commonName', value: 'Authority of this run' }], {
    ...ec,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true },
    ],
  })
  const file = join(folder, 'authority.pem')
  await writeFile(file, made.cert)
  return { file, key: made.private, cert: made.cert }
}

export const startWebhookReceiver = async ({ key, cert }: Pick<Authority, 'key' | 'cert'>): Promise<WebhookReceiver> => {
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...ec,
    ca: { key, cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  const received: ReceivedDelivery[] = []
  let answer = thank
  const server = createServer({ key: certificate.private, cert: certificate.cert }, (request, response) => {
    const receive = async (): Promise<void> => {
      const delivery = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: await readAll(request) }
      received.push(delivery)
      contractWatch.hearDelivery(delivery)
      answer(response)
    }
    void receive()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `https://localhost:${port}`,
    originByAddress: `https://127.0.0.1:${port}`,
    received,
    answer: (next) => {
      answer = next
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const thank = (response: ServerResponse): void => void response.end('thank you')

const readAll = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
