// Sends hostile requests and judges the replies: against the document of the API or of the operator
// API, and against what holds for every reply.
import type { ContractWatch, HeardReply } from '@tradeport/contract-watch'
import { faultsOfReply, parsed } from './judge.ts'
import type { Known } from './known.ts'
import { createLine, tellRaw } from './line.ts'
import type { Line } from './line.ts'
import type { RawRequest } from './raw.ts'
import { written } from './request.ts'
import type { HostileRequest, WrittenRequest } from './request.ts'
import type { WireReply } from './wire.ts'
import { isInterim } from './wire.ts'

/** What came back, for the account at the end. */
export interface Tally {
  readonly requests: Record<'document' | 'operator' | 'raw', number>
  readonly replies: Map<string, number>
}

export const newTally = (): Tally => ({
  requests: { document: 0, operator: 0, raw: 0 },
  replies: new Map(),
})

export interface Caller {
  /** @returns a sentence for each fault */
  readonly send: (request: HostileRequest | RawRequest) => Promise<readonly string[]>
  readonly close: () => void
}

export interface CallerOptions {
  readonly ports: Readonly<Record<HostileRequest['listener'], number>>
  /** Shared by all callers, because creating one is slow. */
  readonly watches: Readonly<Record<'api' | 'operator', ContractWatch>>
  readonly known: Known
  readonly fill: (text: string) => string
  readonly tally: Tally
}

/** One caller asks one request after the other on a connection of its own to each listener. */
export const createCaller = ({ ports, watches, known, fill, tally }: CallerOptions): Caller => {
  const lines = { api: createLine(ports.api), operator: createLine(ports.operator) }
  const sendWhole = async (request: HostileRequest): Promise<readonly string[]> => {
    tally.requests[request.listener === 'api' ? 'document' : 'operator'] += 1
    const sent = written(request, fill)
    const { faults, reply } = await askWhole(lines[request.listener], request, sent.bytes)
    if (reply === undefined) return faults
    count(tally, reply)
    if (request.listener === 'api')
      known.learn(sent.path, reply.status < 300 ? parsed(reply.body) : undefined)
    return [...faults, ...faultsByDocument(watches[request.listener], request, sent, reply)]
  }
  const sendRaw = async ({ listener, pieces, most }: RawRequest): Promise<readonly string[]> => {
    tally.requests.raw += 1
    // Filled as one, since a place may be cut in two.
    const filled = Buffer.from(fill(pieces.join('')), 'latin1')
    const cut = pieces.length > 1 ? (pieces[0]?.length ?? 0) : filled.length
    const { replies, fault } = await tellRaw(
      ports[listener],
      [filled.subarray(0, cut), filled.subarray(cut)].filter(({ length }) => length > 0),
      false,
    )
    const final = replies.filter((reply) => !isInterim(reply))
    for (const reply of final) count(tally, reply)
    return [
      ...(fault === undefined ? [] : [fault]),
      ...(final.length > most ? [`${final.length} replies, where there is at most ${most}`] : []),
      ...final.flatMap((reply) =>
        faultsOfReply(reply, false).map((one) => `the ${reply.status}: ${one}: ${excerpt(reply)}`),
      ),
    ]
  }
  return {
    send: (request) => ('pieces' in request ? sendRaw(request) : sendWhole(request)),
    close: () => {
      lines.api.close()
      lines.operator.close()
    },
  }
}

const askWhole = async (
  line: Line,
  { method }: HostileRequest,
  bytes: Buffer,
): Promise<{ readonly faults: readonly string[]; readonly reply?: WireReply }> => {
  const isHead = method === 'HEAD'
  const told = await line.ask(bytes, isHead)
  if (told.kind === 'closed') return { faults: ['the connection was ended without a reply'] }
  if (told.kind === 'silent') return { faults: ['nothing was answered'] }
  if (told.kind === 'broken') return { faults: [`no reply of HTTP/1.1: ${told.why}`] }
  const faults = faultsOfReply(told.reply, isHead).map(
    (fault) => `the ${told.reply.status}: ${fault}: ${excerpt(told.reply)}`,
  )
  return { faults, reply: told.reply }
}

const excerpt = ({ body }: WireReply): string => body.toString().slice(0, 500)

/** A byte order mark may be passed over (RFC 8259, 8.1). */
const withoutMark = new TextDecoder()

const faultsByDocument = (
  watch: ContractWatch,
  { method }: HostileRequest,
  sent: WrittenRequest,
  reply: WireReply,
): readonly string[] => {
  const { status, headers, body } = reply
  if (isOfNoRoute(reply)) return []
  const taken = status < 300 && sent.body !== undefined ? withoutMark.decode(sent.body) : undefined
  const heard: HeardReply = {
    method,
    url: sent.path,
    sent: taken,
    status,
    headers,
    text: body.toString(),
  }
  try {
    watch.hearReply(heard)
  } catch (error) {
    return [`the ${status} cannot be read: ${String(error)}`]
  }
  return watch.takeFaults()
}

/** What is no request of HTTP/1.1 is refused before a route is looked for, on every path alike. */
const isOfNoRoute = ({ status, isLast, body }: WireReply): boolean =>
  status === 400 && isLast && parsed(body)?.error?.details?.issues?.[0]?.path === 'request'

const count = ({ replies }: Tally, reply: WireReply): void => {
  const name =
    `${reply.status} ${(reply.status >= 400 && parsed(reply.body)?.error?.code) || ''}`.trim()
  replies.set(name, (replies.get(name) ?? 0) + 1)
}
