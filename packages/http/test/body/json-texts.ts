// Bodies of a size, a depth or a number of values, and the same bytes in chunks.
export const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

export const listOf = (values: number) => `{"a":[0${',0'.repeat(values - 3)}]}`

export const chunksOf = (body: Uint8Array, size: number): Uint8Array => {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    pieces.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}
