// The link of the demo's welcome, which signs its reader in to the console with one click: it holds
// a code that can be exchanged for the key once, within a minute.
import { randomBytes } from 'node:crypto'
import type { Clock } from '@tradeport/domain/ports'
import { isBearerOf, type Pages } from '@tradeport/http'

const validForMs = 60_000

interface DemoSignIn {
  readonly key: string
  /** Below the API's address. */
  readonly link: string
  readonly pages: Pages
}

export const createDemoSignIn = (key: string, clock: Clock): DemoSignIn => {
  const code = randomBytes(24).toString('base64url')
  const holdsCode = isBearerOf(code)
  const expiresAt = clock.now() + validForMs
  let isUsed = false
  const pages: Pages = {
    '/console/demo-key': (ctx) => {
      if (isUsed || clock.now() > expiresAt || !holdsCode(ctx.req.headers)) {
        ctx.status = 401
        ctx.body = { message: 'The code was used before, or is older than a minute.' }
      } else {
        isUsed = true
        ctx.body = { key }
      }
    },
  }
  // Browsers keep what follows # to themselves, so that the code is in no log on the way.
  return { key, link: `/console#code=${code}`, pages }
}
