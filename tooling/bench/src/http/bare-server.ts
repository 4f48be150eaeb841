// What the service is measured against: a server that stringifies one reply for every request and does nothing else, on bare node:http or on a
// framework. `node bare-server.js <kind> <file with the reply>` prints its address and answers until it is ended.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'

const jsonType = 'application/json; charset=utf-8'

const servers: Readonly<Record<string, (reply: unknown) => Promise<Server>>> = {
  node: async (reply) =>
    createServer((_, response) => {
      const body = JSON.stringify(reply)
      response.writeHead(200, { 'Content-Type': jsonType, 'Content-Length': Buffer.byteLength(body) })
      response.end(body)
    }),
  koa: async (reply) => {
    const app = new Koa()
    app.use((ctx) => {
      ctx.body = reply
    })
    const handle = app.callback()
    return createServer((request, response) => void handle(request, response))
  },
  fastify: async (reply) => {
    const app = fastify()
    app.get('*', async () => reply)
    await app.ready()
    return app.server
  },
  express: async (reply) => {
    const app = express()
    app.get('/{*path}', (_, response) => void response.json(reply))
    return createServer(app)
  },
}

const [kind = '', file = ''] = process.argv.slice(2)
const create = servers[kind]
if (create === undefined) throw new Error(`No bare server is called ${kind}`)
const server = await create(JSON.parse(readFileSync(file, 'utf8')))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`url http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
