// The least that a server on Node is: a process that listens and imports nothing else. Prints its address and listens until it is ended.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((_, response) => response.end())
server.listen(0, '127.0.0.1', () => process.stdout.write(`url http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
process.once('SIGTERM', () => process.exit(0))
