// Reads Prometheus' text format, as far as this service writes it.
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const labelPair = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** @throws for a line that is neither a comment nor a sample */
export const readSamples = (text: string): readonly Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [whole, name = '', labels = '', value = ''] = sampleLine.exec(line) ?? []
      if (whole === undefined) throw new Error(`no sample: ${line}`)
      return {
        name,
        labels: Object.fromEntries(
          [...labels.matchAll(labelPair)].map(([, key, text]) => [key, text]),
        ),
        value: Number(value),
      }
    })
