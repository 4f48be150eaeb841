// Expect: 100-continue (RFC 9110, 10.1.1): a sender who asks before sending a body is told to go on
// once it is going to be read, so that whoever is refused by the head alone sends none.
import type { IncomingMessage, ServerResponse } from 'node:http'

const held = new WeakSet<IncomingMessage>()

/**
 * Keeps back the leave to send. Unless it is given, nobody knows whether the next bytes are the
 * body, so that the connection ends with the reply.
 */
export const holdBody = (request: IncomingMessage, response: ServerResponse): void => {
  held.add(request)
  response.shouldKeepAlive = false
}

/** Gives the leave, where one was asked for. */
export const askForBody = (request: IncomingMessage, response: ServerResponse): void => {
  if (!held.delete(request)) return
  response.shouldKeepAlive = true
  response.writeContinue()
}
