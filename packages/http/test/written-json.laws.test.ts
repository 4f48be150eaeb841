// Lists that are written record by record say what JSON.stringify says, and each record is written once.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writtenOnce } from '../src/replies/written-json.ts'

const record = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.constant(undefined), fc.constant(null), fc.constant(-0)))

describe('a list that is written record by record', () => {
  it('is the JSON of the list, however often it is written', () => {
    fc.assert(
      fc.property(fc.array(record), (records) => {
        const write = writtenOnce((one: object) => one)
        expect(write(records).text).toBe(JSON.stringify(records))
        expect(write(records.toReversed()).text).toBe(JSON.stringify(records.toReversed()))
      }),
    )
  })

  it('is the JSON of the list also where lists that begin alike were written before', () => {
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1 }),
        fc.array(fc.array(fc.nat(), { maxLength: 6 }), { maxLength: 8 }),
        (records, picks) => {
          const write = writtenOnce((one: object) => one)
          const [first = {}] = records
          for (const pick of picks) {
            const list = [first, ...pick.map((at) => records[at % records.length] ?? first)]
            expect(write(list).text).toBe(JSON.stringify(list))
          }
        },
      ),
    )
  })

  it('presents each record once', () => {
    const presented: object[] = []
    const write = writtenOnce((one: object) => {
      presented.push(one)
      return one
    })
    const [a, b] = [{ id: 'a' }, { id: 'b' }]
    write([a, b])
    write([b, a, a])
    expect(presented).toEqual([a, b])
  })
})
