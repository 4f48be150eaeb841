// The receiver of the README, with Express.
import express from 'express'
import { readWebhook } from '@tradeport/client'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
const app = express()

// Before any express.json(): the signature is that of the received bytes.
app.post('/', express.raw({ type: () => true, limit: '1mb' }), async (request, response) => {
  const { body = '', headers } = request
  const event = await readWebhook({ secret, body, headers })
  if (event === undefined) return response.sendStatus(401)
  if (event.event === 'order.filled')
    console.log(`${event.data.order_id} was filled at ${event.data.fill_price}`)
  return response.sendStatus(204)
})

app.listen(Number(process.env['PORT']))
