// The operator's lists of keys and tokens run by user and id, and those of desks by id: an index each, in the place of one of its first column.
import type { Knex } from 'knex'

const lists = [
  { name: 'api_keys', owner: 'user_id' },
  { name: 'access_tokens', owner: 'user_id' },
  { name: 'desks', owner: 'tenant_id' },
] as const

export const up = async (knex: Knex): Promise<void> => {
  for (const { name, owner } of lists)
    await knex.schema.alterTable(name, (table) => {
      table.index([owner, 'id'])
      table.dropIndex([owner])
    })
}

export const down = async (knex: Knex): Promise<void> => {
  for (const { name, owner } of lists)
    await knex.schema.alterTable(name, (table) => {
      table.index([owner])
      table.dropIndex([owner, 'id'])
    })
}
