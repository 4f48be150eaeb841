// HTTPS receivers of webhooks on loopback: one that answers, and one that accepts connections and
// never says a word.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { generate } from 'selfsigned'
import { newFolder, type CloseLater } from './bench.ts'

export interface Receivers {
  readonly silentUrl: string
  readonly answeringUrl: string
  /** From when an event was recorded to its arrival, in milliseconds, in the order of arrival. */
  readonly delaysMs: number[]
  /** For the service that is to trust the receivers' certificate and reach them. */
  readonly environment: Readonly<Record<string, string>>
}

export const startReceivers = async (closeLater: CloseLater): Promise<Receivers> => {
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  })
  const certificateFile = join(await newFolder(closeLater), 'receiver.pem')
  await writeFile(certificateFile, certificate.cert)
  const delaysMs: number[] = []
  const answering = createServer(
    { key: certificate.private, cert: certificate.cert },
    async (request, response) => {
      const { timestamp } = (await json(request)) as { timestamp: string }
      delaysMs.push(Date.now() - Date.parse(timestamp))
      response.end()
    },
  )
  const sockets = new Set<Socket>()
  const silent = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
  })
  const listen = async (server: Server): Promise<string> => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closeLater(async () => server.close())
    return `https://localhost:${(server.address() as AddressInfo).port}/hook`
  }
  const urls = { silentUrl: await listen(silent), answeringUrl: await listen(answering) }
  closeLater(async () => {
    for (const socket of sockets) socket.destroy()
    answering.closeAllConnections()
  })
  const environment = {
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
    NODE_EXTRA_CA_CERTS: certificateFile,
  }
  return { ...urls, delaysMs, environment }
}
