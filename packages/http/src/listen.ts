// The node:http server of an app, with bounds on how long a request may take to arrive and how large its head may be.
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type Koa from 'koa'

export interface Address {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
}

const serverOptions = {
  headersTimeout: 10_000,
  // All of a body of 10 MiB on a slow line.
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  // Longer than proxies keep theirs, so that it is not us who hang up on a request under way.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
}

/** A server that listens; rejects when the address cannot be had. */
export const listen = (app: Koa, { host, port }: Address): Promise<Server> => {
  const handle = app.callback()
  const server = createServer(serverOptions, (request, response) => void handle(request, response))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(server)
    })
  })
}
