// What a hostile caller knows: keys of every kind, and ids that it has read in replies. A request
// is written with places for them, `{{order}}`, which are filled when it is sent, since nobody
// knows beforehand what an order will be called.

export interface Known {
  /** Fills the places of a text for the next user in turn. */
  readonly fill: (text: string) => string
  /** Keeps the ids of a reply, told by what was asked. */
  readonly learn: (path: string, body: ReturnType<typeof JSON.parse>) => void
}

/** By place, what may stand there; places of an `other` are another user's. */
export type Holdings = Readonly<Record<string, readonly [string, ...string[]]>>

const kept = 40
const place = /\{\{(%?)(other-)?([\w:-]+)\}\}/g

export const createKnown = (users: readonly Holdings[]): Known => {
  const learned = users.map(() => new Map<string, string[]>())
  const turns = new Map<string, number>()
  let userTurn = 0
  /** Of whom each id is, so that what a user read is not told as another's. */
  const keep = (user: number, kind: string, id: unknown): void => {
    if (typeof id !== 'string') return
    const ids = learned[user]?.get(kind) ?? []
    learned[user]?.set(kind, ids)
    if (ids.includes(id)) return
    ids.push(id)
    if (ids.length > kept) ids.shift()
  }
  const ownerOf = (body: ReturnType<typeof JSON.parse>): number => {
    const id = [body.data].flat()[0]?.userId
    return users.findIndex(({ user }) => user?.[0] === id)
  }
  const valueOf = (user: number, kind: string): string => {
    const ids = learned[user]?.get(kind) ?? users[user]?.[kind] ?? []
    // Each place has a turn of its own, so that every user comes by every one of its keys.
    const turn = turns.get(`${user} ${kind}`) ?? 0
    turns.set(`${user} ${kind}`, turn + 1)
    return ids[turn % Math.max(ids.length, 1)] ?? `no-${kind.replaceAll(':', '-')}`
  }
  return {
    fill: (text) => {
      if (!text.includes('{{')) return text
      userTurn += 1
      const user = userTurn % users.length
      return text.replace(
        place,
        (_, isWritten: string, isOther: string | undefined, kind: string) => {
          const value = valueOf(isOther === undefined ? user : (user + 1) % users.length, kind)
          return isWritten === '' ? value : percentEncoded(value)
        },
      )
    },
    learn: (path, body) => {
      const data = [body?.data].flat().filter((one) => typeof one?.id === 'string')
      const kind = kindOf(path)
      if (kind === undefined || data.length === 0) return
      const owner = ownerOf(body)
      // Webhooks do not say whose they are: everybody may try them.
      for (const user of owner < 0 ? users.keys() : [owner]) {
        for (const { id } of data) keep(user, kind, id)
        keep(user, 'cursor', body.meta?.pagination?.cursor)
      }
    },
  }
}

const kindOf = (path: string): string | undefined => {
  if (/\/(?:deliveries|replay)$/.test(path)) return 'delivery'
  return /^\/api\/v1\/(order|position|trade|webhook)s/.exec(path)?.[1]
}

const percentEncoded = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
