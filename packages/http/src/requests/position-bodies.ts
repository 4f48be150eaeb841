// The bodies of PUT /positions/:id/sl and /tp and of POST /positions/:id/close (4.3 rules 5 and 8). null is no value of any field: it is told as a fault.
import { aboveZero, described, maybe, namedCodec, openObject, present } from './json-codecs.ts'
import type { JsonCodec } from './json-codecs.ts'

interface LevelBody {
  /** A price. */
  readonly value: number
}

interface CloseBody {
  /** Lots; all when left out. */
  readonly volume?: number
}

export const levelBody: JsonCodec<LevelBody> = namedCodec(
  'MoveLevelRequest',
  openObject<LevelBody>('Level', { value: present(described(aboveZero, 'The new price.')) }),
  { value: 1.0825 },
)

export const closeBody: JsonCodec<CloseBody> = namedCodec(
  'ClosePositionRequest',
  openObject<CloseBody>('Close', {
    volume: maybe(described(aboveZero, 'Lots to close, at most those that are open; all of them when left out.')),
  }),
  { volume: 0.1 },
)
