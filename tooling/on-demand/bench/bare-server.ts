// Reference servers: each serializes the same object for every request and does nothing else.
// `node bare-server.ts <which> <file with the reply>` prints its address and answers until it is
// ended.
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'

const [which = '', file = ''] = process.argv.slice(2)
const reply: unknown = JSON.parse(readFileSync(file, 'utf8'))

const fastifyServer = fastify().get('/', async () => reply)
await fastifyServer.ready()
const listeners: Readonly<Record<string, RequestListener>> = {
  Koa: new Koa().use((ctx) => void (ctx.body = reply)).callback(),
  Express: express().get('/', (_, response) => void response.json(reply)),
  Fastify: fastifyServer.routing,
  'node:http': (_, response) => {
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    response.end(JSON.stringify(reply))
  },
}
const server = createServer(listeners[which]).listen(0, '127.0.0.1', () => {
  process.stdout.write(`url http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
