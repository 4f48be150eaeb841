// A receiver of webhooks on loopback: real HTTPS with a certificate of its own, which a
// service trusts when NODE_EXTRA_CA_CERTS names it.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '@tradeport/testkit/certificates'
import { contractWatch, type Json } from './service.ts'

export interface ReceivedDelivery {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>

const thank = (response: ServerResponse): void => void response.end('thank you')

export const startWebhookReceiver = async () => {
  const certificate = await createCertificate()
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-receiver-'))
  const certificateFile = join(folder, 'receiver.pem')
  await writeFile(certificateFile, certificate.cert)
  const received: ReceivedDelivery[] = []
  let answer = thank
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const delivery = { headers: request.headers, body: await buffer(request) }
    received.push(delivery)
    contractWatch.hearDelivery(delivery)
    answer(response)
  }
  const server = createServer(certificate, (request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    /** For NODE_EXTRA_CA_CERTS. */
    certificateFile,
    received,
    bodies: (): Json[] => received.map(({ body }) => JSON.parse(body.toString())),
    /** How every delivery from now on is answered; 200 before that. */
    answer: (next: (response: ServerResponse) => void): void => {
      answer = next
    },
    close: async (): Promise<void> => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await rm(folder, { recursive: true })
    },
  }
}
