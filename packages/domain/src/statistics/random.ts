// Pseudo-random numbers that follow from a seed, the same on every machine.

/** Fills a list with whole numbers, each from 0 to 2³² − 1 with the same probability. */
export type Draw = (numbers: Uint32Array) => void

/**
 * The generator xoshiro128** 1.1 (D. Blackman and S. Vigna, ACM TOMS 47(4), 2021), whose state is
 * filled from the seed by splitmix32. It fills lists, because a call for each number costs more
 * than the number.
 */
export const createRandom = (seed: number): Draw => {
  const state = new Int32Array(4)
  let mixed = seed | 0
  for (let word = 0; word < 4; word++) {
    mixed = (mixed + 0x9e3779b9) | 0
    let bits = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
    state[word] = bits ^ (bits >>> 15)
  }
  return (numbers) => {
    let [a, b, c, d] = state as unknown as [number, number, number, number]
    for (let at = 0; at < numbers.length; at++) {
      const fives = Math.imul(b, 5)
      numbers[at] = Math.imul((fives << 7) | (fives >>> 25), 9)
      const shifted = b << 9
      c ^= a
      d ^= b
      b ^= c
      a ^= d
      c ^= shifted
      d = (d << 11) | (d >>> 21)
    }
    state.set([a, b, c, d])
  }
}

/**
 * A seed from numbers, the same for the same numbers in the same order: FNV-1a over their bytes.
 */
export const seedOf = (numbers: Float64Array): number => {
  const view = new DataView(new ArrayBuffer(8))
  let hash = 0x811c9dc5
  for (const number of numbers) {
    view.setFloat64(0, number, true)
    for (let at = 0; at < 8; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x01000193)
  }
  return hash >>> 0
}
