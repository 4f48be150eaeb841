// Many streams of events or quotes at once, read with as little work as possible: the bench that
// reads them shares the machine with the service.
import { get } from 'node:http'

export interface Stream {
  /** Resolves when so many items have arrived beyond those that were waited for before. */
  readonly receives: (count: number) => Promise<void>
  readonly close: () => void
}

const dataField = '\ndata: '

export const openStream = (url: string, key: string): Promise<Stream> =>
  new Promise((resolve, reject) => {
    const request = get(url, { agent: false, headers: { 'X-API-Key': key } }, (response) => {
      if (response.statusCode !== 200)
        return reject(new Error(`a stream was answered ${response.statusCode}`))
      let arrived = 0
      let expected = 0
      let rest = ''
      let end = (): void => undefined
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const text = rest + chunk
        arrived += text.split(dataField).length - 1
        rest = text.slice(1 - dataField.length)
        if (arrived >= expected) end()
      })
      response.on('error', () => undefined)
      return resolve({
        receives: (count) =>
          new Promise((received) => {
            expected += count
            end = received
            if (arrived >= expected) received()
          }),
        close: () => request.destroy(),
      })
    })
    request.on('error', reject)
  })

/** As many as a key may have open at once. */
export const streamsPerKey = 5

export const openStreams = async (
  url: string,
  keys: readonly string[],
): Promise<readonly Stream[]> => {
  const all: Stream[] = []
  for (const key of keys)
    all.push(
      ...(await Promise.all(Array.from({ length: streamsPerKey }, () => openStream(url, key)))),
    )
  return all
}
