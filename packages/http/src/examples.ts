// The ids in the examples of the documents: an account, an order on it, its position, and the trade that this became.
export const exampleUserId = 'u-1'
export const exampleAccountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'
export const exampleOrderId = 'ord_0mhk3v9q2c7d1x8p4z6w'
export const exampleTicket = '46648037'
export const examplePositionId = `${exampleAccountId}:${exampleTicket}`
export const exampleWebhookId = '5f0d1c9e-3a87-4b26-9c41-7e2b8d6a0f13'
export const exampleDeliveryId = 'c2a4e6f8-1b3d-4f5a-8c7e-9d0b2a4c6e81'
export const exampleRequestId = 'req_8f14e45f-ceea-4673-9a4b-1b2c3d4e5f60'
