// The bodies of PUT /positions/:id/sl and /tp and of POST /positions/:id/close (4.3 rules 5 and 8). null is no value of any field: it is told as a fault.
import { aboveZero, maybe, openObject, present } from './json-codecs.ts'
import type { JsonCodec } from './json-codecs.ts'

interface LevelBody {
  /** A price. */
  readonly value: number
}

interface CloseBody {
  /** Lots; all when left out. */
  readonly volume?: number
}

export const levelBody: JsonCodec<LevelBody> = openObject<LevelBody>('Level', { value: present(aboveZero) })

export const closeBody: JsonCodec<CloseBody> = openObject<CloseBody>('Close', { volume: maybe(aboveZero) })
