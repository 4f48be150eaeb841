// The receiver of the README, with Koa.
import Koa from 'koa'
import { getRawBody } from 'raw-body'
import { readWebhook } from '@tradeport/client'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
const app = new Koa()

app.use(async (context) => {
  // The signature is that of the received bytes, before any parsing.
  const body = await getRawBody(context.req, { limit: '1mb' })
  const event = await readWebhook({ secret, body, headers: context.headers })
  if (event === undefined) return context.throw(401)
  if (event.event === 'order.filled')
    console.log(`${event.data.order_id} was filled at ${event.data.fill_price}`)
  context.status = 204
})

app.listen(Number(process.env['PORT']))
