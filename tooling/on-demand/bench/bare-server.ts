// A reference server: it serializes the same object for every request and does nothing else, on
// bare node:http or on Koa. `node bare-server.ts <kind> [file with the reply]` prints its address
// and answers until it is ended. Koa is imported only where it is used, so that `node` is also the
// reference for the memory and the start of a process.
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

const jsonType = 'application/json; charset=utf-8'

const servers: Readonly<Record<string, (reply: unknown) => Promise<Server>>> = {
  node: async (reply) =>
    createServer((_, response) => {
      const body = JSON.stringify(reply)
      response.writeHead(200, {
        'Content-Type': jsonType,
        'Content-Length': Buffer.byteLength(body),
      })
      response.end(body)
    }),
  koa: async (reply) => {
    const { default: Koa } = await import('koa')
    const app = new Koa()
    app.use((ctx) => {
      ctx.body = reply
    })
    const handle = app.callback()
    return createServer((request, response) => void handle(request, response))
  },
}

const [kind = '', file = ''] = process.argv.slice(2)
const create = servers[kind]
if (create === undefined)
  throw new Error(
    `No reference server is called ${kind}; there are ${Object.keys(servers).join(', ')}`,
  )
const server = await create(file === '' ? {} : JSON.parse(readFileSync(file, 'utf8')))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`url http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
