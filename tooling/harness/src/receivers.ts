// HTTPS receivers of webhooks on loopback, with a certificate of their own.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createCertificate } from '@tradeport/testkit/certificates'
import { newFolder } from './waiting.ts'

export interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receivers {
  readonly urls: readonly string[]
  /** For a service that delivers to them. */
  readonly environment: Readonly<Record<string, string>>
}

/** One receiver for each function, which answers the deliveries that it receives. */
export const startReceivers = async (
  stack: AsyncDisposableStack,
  answers: readonly ((response: ServerResponse, delivery: Delivery) => void)[],
): Promise<Receivers> => {
  const certificate = await createCertificate()
  const certificateFile = join(await newFolder(stack), 'receiver.pem')
  await writeFile(certificateFile, certificate.cert)
  const urls: string[] = []
  for (const answer of answers) {
    const server = createServer(certificate, (request, response) => {
      text(request).then(
        (body) => answer(response, { headers: request.headers, body }),
        // A sender that was killed during its request has sent nothing.
        () => response.destroy(),
      )
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    stack.defer(() => {
      server.closeAllConnections()
      server.close()
    })
    urls.push(`https://localhost:${(server.address() as AddressInfo).port}/hook`)
  }
  const environment = {
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
    NODE_EXTRA_CA_CERTS: certificateFile,
  }
  return { urls, environment }
}
