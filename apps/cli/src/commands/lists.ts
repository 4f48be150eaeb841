// Lists of the operator's records, of one tenant or of all of them: a page for people, all of it
// for programs, written as it is read.
import type { Query } from '../connection.ts'
import type { OrderUnderWay, Tenant } from '../records.ts'
import type { CommonOptions, Session } from '../session.ts'
import { openSession } from '../session.ts'
import type { Columns } from '../table.ts'
import type { World } from '../world.ts'

export interface ListOptions extends CommonOptions {
  readonly tenant?: string | undefined
  readonly user?: string | undefined
  readonly limit?: number | undefined
  readonly stuck?: boolean | undefined
}

/** What people are shown at once when they do not say. */
export const shownRows = 100
const pieceSize = 1_000

/** Every record of a list, read piece by piece, no more than so many. */
export async function* recordsOf<A>(
  { api }: Session,
  path: string,
  query: Query,
  most: number,
): AsyncGenerator<A, void, void> {
  let left = most
  for (let cursor: string | undefined; left > 0;) {
    const piece = await api.getPiece<A>(path, {
      ...query,
      cursor,
      limit: Math.min(left, pieceSize),
    })
    yield* piece.items
    left -= piece.items.length
    if (piece.cursor === undefined) return
    cursor = piece.cursor
  }
}

export const collected = async <A>(
  records: AsyncGenerator<A, void, void>,
): Promise<readonly A[]> => {
  const all: A[] = []
  for await (const record of records) all.push(record)
  return all
}

const tenantPath = (id: string): string => `/tenants/${encodeURIComponent(id)}`

/** Reads a list as its options say, no more than so many. */
type Read<A> = (
  session: Session,
  options: ListOptions,
  most: number,
) => AsyncGenerator<A, void, void>

export const readTenants: Read<Tenant> = (session, _, most) =>
  recordsOf(session, '/tenants', {}, most)

export const readOrders: Read<OrderUnderWay> = (session, { tenant, stuck }, most) =>
  recordsOf(
    session,
    '/orders',
    { tenantId: tenant, stuck: stuck === true ? 'true' : undefined },
    most,
  )

/** A list below a tenant; without one, that of every tenant in turn. */
export const readOfTenants = <A>(below: string): Read<A> =>
  async function* (session, { tenant, user }, most) {
    const query = { userId: user }
    if (tenant !== undefined)
      return yield* recordsOf<A>(session, `${tenantPath(tenant)}/${below}`, query, most)
    let left = most
    for await (const { id } of recordsOf<Tenant>(session, '/tenants', {}, Infinity)) {
      for await (const record of recordsOf<A>(session, `${tenantPath(id)}/${below}`, query, left)) {
        left -= 1
        yield record
      }
      if (left <= 0) return
    }
  }

export interface Listing<A> {
  /** `key`, `keys` */
  readonly one: string
  readonly many: string
  readonly columns: Columns<A>
}

export const showList = async <A>(
  world: World,
  options: ListOptions,
  { one, many, columns }: Listing<A>,
  read: Read<A>,
): Promise<void> => {
  const session = await openSession(world, options)
  const { limit } = options
  if (session.isJson) return writeJson(world, read(session, options, limit ?? Infinity))
  const most = limit ?? shownRows
  const rows = await collected(read(session, options, most + 1))
  const shown = rows.slice(0, most)
  if (shown.length === 0) return session.say(`There are no ${many}.`)
  session.table(columns, shown)
  if (rows.length > most)
    return session.say(
      session.styled(
        'dim',
        `The first ${most} ${many}; --limit shows more, --json gives all of them.`,
      ),
    )
  session.say(session.styled('dim', `${shown.length} ${shown.length === 1 ? one : many}`))
}

const writeJson = async <A>(
  world: World,
  records: AsyncGenerator<A, void, void>,
): Promise<void> => {
  let separator = '['
  for await (const record of records) {
    world.out(`${separator}\n  ${JSON.stringify(record)}`)
    separator = ','
  }
  world.out(separator === '[' ? '[]\n' : '\n]\n')
}
