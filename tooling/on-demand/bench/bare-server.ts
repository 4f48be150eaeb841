// A reference server: it serializes the same object for every request and does nothing else, on
// bare node:http or on Koa. `node bare-server.ts <kind> [file with the reply]` prints its address
// and answers until it is ended. Koa is imported only where it is used, so that `node` is also the
// reference for the memory and the start of a process.
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

const [kind, file = ''] = process.argv.slice(2)
const reply: unknown = file === '' ? {} : JSON.parse(readFileSync(file, 'utf8'))

const koaListener = async (): Promise<RequestListener> => {
  const { default: Koa } = await import('koa')
  const app = new Koa()
  app.use((ctx) => {
    ctx.body = reply
  })
  const handle = app.callback()
  return (request, response) => void handle(request, response)
}
const listener: RequestListener =
  kind === 'koa'
    ? await koaListener()
    : (_, response) => {
        const body = JSON.stringify(reply)
        response.writeHead(200, {
          'Content-Type': 'application/json; charset=utf-8',
          'Content-Length': Buffer.byteLength(body),
        })
        response.end(body)
      }
const server = createServer(listener).listen(0, '127.0.0.1', () => {
  process.stdout.write(`url http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
