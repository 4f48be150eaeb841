// Lists of records, and one record with all that belongs to it. People see the beginning of a
// list, programs all of it.
import { segmentOf } from './api.ts'
import {
  namedByFlags,
  printForPeople,
  printForPrograms,
  styled,
  type CommandContext,
} from './context.ts'
import { isNotFound, type CommandFailure } from './failure.ts'
import { linesOf, tableOf, type Columns, type Row } from './table.ts'

interface Listing {
  readonly singular: string
  /** The name of the list when omitted. */
  readonly plural?: string
  readonly columns: Columns
  /** Of a document, in which they are changed, and of the reply about a tenant. */
  readonly section?: string
  /** Undefined for lists of the whole service. */
  readonly pathUnderTenant?: string
}

const owned = { ID: 'id', USER: 'userId' }
const granted = { ENABLED: 'enabled', EXPIRES: 'expiresAt', SCOPES: 'scopes' }
const deskLimits = {
  'OPEN LOTS': 'limits.maxOpenLots',
  'OPEN POSITIONS': 'limits.maxOpenPositions',
  SYMBOLS: 'limits.allowedSymbols',
}

export const listings = {
  tenants: {
    singular: 'tenant',
    section: 'tenants',
    columns: { ID: 'id', NAME: 'name', 'PROVIDER TOKEN': 'hasProviderToken' },
  },
  users: {
    singular: 'user',
    section: 'users',
    pathUnderTenant: 'users',
    columns: { ID: 'id', TENANT: 'tenantId', EMAIL: 'email', PLAN: 'plan' },
  },
  accounts: {
    singular: 'account',
    section: 'accounts',
    pathUnderTenant: 'accounts',
    columns: {
      ...owned,
      NAME: 'name',
      PLATFORM: 'brokerType',
      LOGIN: 'accountNumber',
      SERVER: 'server',
      PURPOSE: 'purpose',
      DEMO: 'isDemo',
      STATUS: 'status',
      'LAST READ': 'lastReadAt',
    },
  },
  keys: {
    singular: 'key',
    section: 'apiKeys',
    pathUnderTenant: 'api-keys',
    columns: { ...owned, NAME: 'name', ...granted, ALLOWLIST: 'ipAllowlist' },
  },
  tokens: {
    singular: 'token',
    section: 'accessTokens',
    pathUnderTenant: 'access-tokens',
    columns: { ...owned, APPLICATION: 'applicationId', ...granted },
  },
  desks: {
    singular: 'desk',
    section: 'desks',
    pathUnderTenant: 'desks',
    columns: { ID: 'id', TENANT: 'tenantId', ...deskLimits, ACCOUNTS: 'accounts' },
  },
  orders: {
    singular: 'order',
    plural: 'orders under way',
    columns: {
      ID: 'id',
      TENANT: 'tenantId',
      USER: 'userId',
      ACCOUNT: 'accountId',
      DESTINATION: 'destination.providerAccountId',
      SIDE: 'type',
      LOTS: 'volume',
      SYMBOL: 'symbol',
      CREATED: 'createdAt',
      STEP: 'step',
      SENT: 'sentAt',
      LOOKUPS: 'lookups',
      'BROKER ORDER': 'brokerOrderId',
      'NEXT STEP': 'dueAt',
    },
  },
} as const satisfies Record<string, Listing>
export type EditableList = Exclude<keyof typeof listings, 'orders'>

const traderLimitColumns: Columns = {
  ACCOUNT: 'id',
  'LOTS PER ORDER': 'limits.maxLotsPerOrder',
  ...deskLimits,
  'APPROVAL ABOVE': 'limits.approvalAboveLots',
}
const thresholdColumns: Columns = {
  ACCOUNT: 'id',
  TYPE: 'type',
  SEVERITY: 'severity',
  VALUE: 'value',
  HALT: 'halt',
  'CANCEL ORDERS': 'cancelOrders',
  BREACHED: 'breached',
  'MEASURED FROM': 'reference',
  CHECKED: 'checkedAt',
}
const challengeColumns: Columns = { ACCOUNT: 'id', STARTED: 'startedAt', STATUS: 'status' }

/** What people are shown of a list without --limit. */
export const shownRows = 100
const shownRowsPerList = 20

export const tenantPath = (id: string): string => `/tenants/${segmentOf(id)}`

type Rows = AsyncGenerator<Row, void, void>

/** Records of one tenant, or of every tenant in turn; those of a user are of the user's tenant. */
export async function* recordsOf(
  { api }: CommandContext,
  pathUnderTenant: string,
  values: CommandContext['values'],
  maxPerTenant?: number,
): Rows {
  const { tenantId, ...query } = values
  const listOf = (tenant: string): Rows =>
    api.list<Row>(`${tenantPath(tenant)}/${pathUnderTenant}`, query, maxPerTenant)
  if (typeof tenantId === 'string') return yield* listOf(tenantId)
  let missing: CommandFailure | undefined
  for await (const { id } of api.list<{ id: string }>('/tenants'))
    try {
      yield* listOf(id)
      if (query['userId'] !== undefined) return
    } catch (error) {
      if (!isNotFound(error)) throw error
      missing = error
    }
  if (query['userId'] !== undefined && missing !== undefined) throw missing
}

const collect = async (rows: Rows, max: number): Promise<readonly Row[]> => {
  const found: Row[] = []
  for await (const row of rows) if (found.push(row) >= max) break
  return found
}

const printTable = (context: CommandContext, columns: Columns, rows: readonly Row[]): void => {
  const [titles = '', ...lines] = tableOf(columns, rows)
  printForPeople(context, styled('bold', titles), ...lines)
}

export const showList =
  (name: keyof typeof listings) =>
  async (context: CommandContext): Promise<void> => {
    const { singular, plural = name, columns, pathUnderTenant }: Listing = listings[name]
    const { limit, ...query } = context.values
    const max = typeof limit === 'number' ? limit : context.isJson ? Infinity : shownRows
    // One more shows whether there are others.
    const rows =
      pathUnderTenant === undefined
        ? context.api.list<Row>(`/${name}`, query, max + 1)
        : recordsOf(context, pathUnderTenant, query, max + 1)
    const found = await collect(rows, max + 1)
    const shown = found.slice(0, max)
    printForPrograms(context, shown)
    if (shown.length === 0) return printForPeople(context, `There are no ${plural}.`)
    printTable(context, columns, shown)
    const count =
      found.length > max
        ? `The first ${max} ${plural}; --limit shows more, --json gives all of them.`
        : `${shown.length} ${shown.length === 1 ? singular : plural}`
    printForPeople(context, styled('dim', count))
  }

interface Account extends Row {
  readonly limits: object | null
  readonly challenges: readonly object[]
  /** Undefined without the capability `events`. */
  readonly riskThresholds?: readonly object[]
}

interface Tenant {
  readonly id: string
  readonly name: string
  readonly hasProviderToken: boolean
  readonly counts: Readonly<Record<string, number>>
}

const listsOfTenant = ['users', 'accounts', 'keys', 'tokens', 'desks'] as const

export const showTenant = async (context: CommandContext): Promise<void> => {
  const path = tenantPath(context.argument)
  const tenant = await context.api.get<Tenant>(path)
  const max = context.isJson ? Infinity : shownRowsPerList
  const lists: Record<string, readonly Row[]> = {}
  for (const name of listsOfTenant) {
    const { section, pathUnderTenant } = listings[name]
    lists[section] = await collect(
      context.api.list<Row>(`${path}/${pathUnderTenant}`, {}, max),
      max,
    )
  }
  printForPrograms(context, { ...tenant, ...lists })
  printForPeople(
    context,
    `${styled('bold', tenant.id)}  ${tenant.name}`,
    `provider token: ${tenant.hasProviderToken ? 'set' : 'not set; no account of this tenant can be read until it is'}`,
  )
  const printSection = (title: string, columns: Columns, rows: readonly Row[]): void => {
    printForPeople(context, `\n${styled('bold', title)}`)
    if (rows.length === 0) printForPeople(context, 'none')
    else printTable(context, columns, rows)
  }
  for (const name of listsOfTenant) {
    const { section, columns } = listings[name]
    const [rows = [], count = 0] = [lists[section], tenant.counts[section]]
    printSection(`${name} (${count})`, columns, rows)
    if (count > rows.length)
      printForPeople(
        context,
        styled(
          'dim',
          `${count - rows.length} more: pnpm operator ${name} list --tenant ${tenant.id}`,
        ),
      )
  }
  const accounts = (lists['accounts'] ?? []) as readonly Account[]
  printSection(
    'limits of these accounts',
    traderLimitColumns,
    accounts.filter(({ limits }) => limits !== null),
  )
  printSection(
    'challenges of these accounts',
    challengeColumns,
    accounts.flatMap(({ id, challenges }) => challenges.map((one) => ({ id, ...one }))),
  )
  if (accounts.some(({ riskThresholds }) => riskThresholds === undefined))
    printForPeople(context, '\nRisk thresholds are not shown: the capability events is off.')
  else
    printSection(
      'risk thresholds of these accounts',
      thresholdColumns,
      accounts.flatMap(({ id, riskThresholds = [] }) =>
        riskThresholds.map((one) => ({ id, ...one })),
      ),
    )
}

const orderPath = ({ argument }: CommandContext): string => `/orders/${segmentOf(argument)}`

export const showOrder = async (context: CommandContext): Promise<void> => {
  const order = await context.api.get<Row>(orderPath(context))
  printForPrograms(context, order)
  printForPeople(context, ...linesOf(order))
}

export const finishOrder = async (context: CommandContext): Promise<void> => {
  const order = await namedByFlags(context, () =>
    context.api.post<Row>(
      `${orderPath(context)}/finish`,
      context.values,
      `See whether it was ended: pnpm operator orders show ${context.argument}.`,
    ),
  )
  printForPrograms(context, order)
  printForPeople(context, `The order ${context.argument} is now ${String(order['status'])}.`)
}
