import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { copyRows, type CopyValue } from '../src/connection/copy-rows.ts'
import { sql } from '../src/connection/sql.ts'
import { onEachDatabase } from './harness.ts'

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }).map((any) => any.replaceAll('\0', '')),
  fc.constantFrom('\\N', '\\', '\\.', 'a\tb\r\nc', '', 'null', '€', '\u{1F600}'),
)
const row = fc.tuple(
  fc.option(text),
  fc.option(fc.double({ noNaN: true }).map((number) => number + 0)),
  fc.option(fc.boolean()),
)

onEachDatabase('rows that are copied', (here) => {
  const stored = (rows: readonly (readonly CopyValue[])[]) =>
    here.knex.transaction(async (trx) => {
      await trx.raw(
        'create temporary table copied (place serial, a text, b float8, c boolean) on commit drop',
      )
      await copyRows(trx, [{ target: sql`copied (a, b, c)`, rows }])
      const all = await trx('copied').orderBy('place')
      return all.map(({ a, b, c }: Record<string, CopyValue>) => [a, b, c])
    })

  it('come back as they were, whatever their texts', () =>
    fc.assert(
      fc.asyncProperty(fc.array(row), async (rows) => {
        expect(await stored(rows)).toEqual(rows)
      }),
      { numRuns: 50 },
    ))

  it.each(['\0', '\uD800'])('are refused with %j, which no database can hold', async (bad) => {
    await expect(
      stored([
        ['good', 1, true],
        [bad, 1, true],
      ]),
    ).rejects.toThrow('cannot hold')
  })
})
