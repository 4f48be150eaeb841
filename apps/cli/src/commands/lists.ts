// Lists of the operator's records, of one tenant or of all of them: a page for people, all of it for programs, written as it is read.
import type { Query } from '../connection.ts'
import type { OrderUnderWay, Tenant } from '../records.ts'
import type { CommonOptions, Session } from '../session.ts'
import { openSession } from '../session.ts'
import type { Column } from '../table.ts'
import type { World } from '../world.ts'

export interface ListOptions extends CommonOptions {
  readonly tenant?: string | undefined
  readonly user?: string | undefined
  readonly limit?: number | undefined
}

/** What people are shown at once when they do not say. */
export const shownRows = 100
const pieceSize = 1_000

/** Every record of a list, read piece by piece, no more than so many. */
export async function* recordsOf<A>({ api }: Session, path: string, query: Query, most: number): AsyncGenerator<A, void, void> {
  let left = most
  for (let cursor: string | undefined; left > 0;) {
    const piece = await api.getPiece<A>(path, { ...query, cursor, limit: Math.min(left, pieceSize) })
    yield* piece.items
    left -= piece.items.length
    if (piece.cursor === undefined) return
    cursor = piece.cursor
  }
}

export const collected = async <A>(records: AsyncGenerator<A, void, void>): Promise<readonly A[]> => {
  const all: A[] = []
  for await (const record of records) all.push(record)
  return all
}

const tenantPath = (id: string): string => `/tenants/${encodeURIComponent(id)}`

/** A list below a tenant; without one, that of every tenant in turn. */
async function* ofTenants<A>(session: Session, below: string, { tenant, user }: ListOptions, most: number): AsyncGenerator<A, void, void> {
  const query = { userId: user }
  if (tenant !== undefined) return yield* recordsOf<A>(session, `${tenantPath(tenant)}/${below}`, query, most)
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
  readonly columns: (now: number) => readonly Column<A>[]
}

const showList = async <A>(
  session: Session,
  { one, many, columns }: Listing<A>,
  limit: number | undefined,
  read: (most: number) => AsyncGenerator<A, void, void>,
): Promise<void> => {
  if (session.isJson) return writeJson(session.world, read(limit ?? Infinity))
  const most = limit ?? shownRows
  const rows = await collected(read(most + 1))
  const shown = rows.slice(0, most)
  if (shown.length === 0) return session.say(`There are no ${many}.`)
  session.table(columns(Date.now()), shown)
  if (rows.length > most)
    return session.say(session.styled('dim', `The first ${most} ${many}; --limit shows more, --json gives all of them.`))
  session.say(session.styled('dim', `${shown.length} ${shown.length === 1 ? one : many}`))
}

const writeJson = async <A>(world: World, records: AsyncGenerator<A, void, void>): Promise<void> => {
  let separator = '['
  for await (const record of records) {
    world.out(`${separator}\n  ${JSON.stringify(record)}`)
    separator = ','
  }
  world.out(separator === '[' ? '[]\n' : '\n]\n')
}

export const listTenants =
  (listing: Listing<Tenant>) =>
  async (world: World, options: ListOptions): Promise<void> => {
    const session = await openSession(world, options)
    await showList(session, listing, options.limit, (most) => recordsOf(session, '/tenants', {}, most))
  }

export interface OrderListOptions extends ListOptions {
  readonly stuck?: boolean | undefined
}

export const listOrders =
  (listing: Listing<OrderUnderWay>) =>
  async (world: World, options: OrderListOptions): Promise<void> => {
    const session = await openSession(world, options)
    const query = { tenantId: options.tenant, stuck: options.stuck === true ? 'true' : undefined }
    await showList(session, listing, options.limit, (most) => recordsOf(session, '/orders', query, most))
  }

export const listOfTenants =
  <A>(below: string, listing: Listing<A>) =>
  async (world: World, options: ListOptions): Promise<void> => {
    const session = await openSession(world, options)
    await showList(session, listing, options.limit, (most) => ofTenants<A>(session, below, options, most))
  }
