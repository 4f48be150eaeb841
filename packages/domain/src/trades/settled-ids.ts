// Remembers which positions the fold has settled (decision 34), in a table of numbers, because a set of a hundred thousand strings costs
// the fold more than all its sums.

const zeroCode = 48
const exactDigits = 15
const offset = 0x811c9dc5
const oddOne = 0x01000193
const oddTwo = 0x9e3779b1

/**
 * A set of ids that keeps a number for each. `mayHave` is true for every id that was added; it can be true for one that was not (7 and 007
 * are one number, and other text is hashed to 53 bits), so that whoever asks must be able to live with a wrong yes.
 */
export class SettledIds {
  #table = new Float64Array(1024)
  #count = 0

  add(id: string): void {
    if (this.#count * 2 >= this.#table.length) this.#grow()
    if (put(this.#table, fingerprint(id))) this.#count += 1
  }

  mayHave(id: string): boolean {
    const print = fingerprint(id)
    return this.#table[placeOf(this.#table, print)] === print
  }

  #grow(): void {
    const table = new Float64Array(this.#table.length * 4)
    for (const print of this.#table) if (print !== 0) put(table, print)
    this.#table = table
  }
}

const put = (table: Float64Array, print: number): boolean => {
  const place = placeOf(table, print)
  if (table[place] === print) return false
  table[place] = print
  return true
}

// Where a fingerprint stands, or the free place where it would; the table's length is a power of two.
const placeOf = (table: Float64Array, print: number): number => {
  const mask = table.length - 1
  let place = print & mask
  while (table[place] !== 0 && table[place] !== print) place = (place + 1) & mask
  return place
}

// A broker's number stands for itself, one more because 0 stands for a free place: numbers given one after the other stand side by side, and
// the table is read and written where it was a moment ago.
const fingerprint = (id: string): number => {
  if (id.length > exactDigits) return hash(id)
  let number = 0
  for (let i = 0; i < id.length; i++) {
    const digit = id.charCodeAt(i) - zeroCode
    if (digit < 0 || digit > 9) return hash(id)
    number = number * 10 + digit
  }
  return number + 1
}

// Two multiplicative hashes of the text: 32 bits of one below 21 bits of the other.
const hash = (text: string): number => {
  let one = offset
  let two = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    one = Math.imul(one ^ code, oddOne)
    two = Math.imul(two ^ code, oddTwo)
    two ^= two >>> 15
  }
  return (one >>> 0) + ((two >>> 11) + 1) * 2 ** 32
}
