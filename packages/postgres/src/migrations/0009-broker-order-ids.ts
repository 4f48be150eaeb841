// The number that a broker gave to an order which it accepted and had not yet filled: by it the order is found, whatever else the broker's records leave out.
import type { Knex } from 'knex'

export const up = (knex: Knex): Promise<void> =>
  knex.schema.alterTable('orders', (table) => {
    table.text('broker_order_id')
  })

export const down = (knex: Knex): Promise<void> =>
  knex.schema.alterTable('orders', (table) => {
    table.dropColumn('broker_order_id')
  })
