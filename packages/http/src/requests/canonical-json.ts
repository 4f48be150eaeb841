// Whether two bodies are the same JSON value (decision 25): the hash of the one text in which each value is written.
import { createHash } from 'node:crypto'
import type { JsonObject } from './read-body.ts'

/** A list or an object that is being written, and how far. */
interface Frame {
  readonly values: Readonly<Record<number | string, unknown>>
  /** Of an object, in order. */
  readonly names: readonly string[] | undefined
  readonly size: number
  written: number
}

// Enough for a hash to take at once, without the whole of a body standing twice in memory.
const pieceLength = 65_536

/**
 * SHA-256 of a JSON value, in lower-case hex: members in the order of their names at every depth, no white space, numbers as JSON.stringify
 * writes them (1.0 and 1 are one value).
 */
export const hashJson = (value: JsonObject): string => {
  const hash = createHash('sha256')
  for (const piece of canonicalPieces(value)) hash.update(piece)
  return hash.digest('hex')
}

// Without recursion, because a body may be nested deeper than the stack is high.
function* canonicalPieces(value: unknown): Generator<string> {
  const frames: Frame[] = []
  let text = ''
  const write = (item: unknown): void => {
    const frame = frameOf(item)
    if (frame === undefined) text += scalar(item)
    else {
      text += frame.names === undefined ? '[' : '{'
      frames.push(frame)
    }
  }
  write(value)
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.written === frame.size) {
      text += frame.names === undefined ? ']' : '}'
      frames.pop()
      continue
    }
    if (frame.written > 0) text += ','
    const name = frame.names?.[frame.written] ?? frame.written
    if (typeof name === 'string') text += `${JSON.stringify(name)}:`
    frame.written += 1
    write(frame.values[name])
    if (text.length < pieceLength) continue
    yield text
    text = ''
  }
  yield text
}

const frameOf = (item: unknown): Frame | undefined => {
  if (typeof item !== 'object' || item === null) return undefined
  const values = item as Frame['values']
  if (Array.isArray(item)) return { values, names: undefined, size: item.length, written: 0 }
  const names = Object.keys(item).toSorted()
  return { values, names, size: names.length, written: 0 }
}

// Lone surrogates are escaped by JSON.stringify, so that no two texts become one. A number too large for a double reads as Infinity.
const scalar = (item: unknown): string => (item === Infinity || item === -Infinity ? String(item) : JSON.stringify(item))
