// What several use cases look up or require first: a caller's accounts, a position with its account,
// a place in the log of events, a tenant.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import {
  isDemo,
  isPaper,
  requireBrokerAccount,
  requireTradable,
  withReading,
  type Account,
  type BrokerAccount,
} from '../../accounts/account.ts'
import { refuse, type AsyncResult, type BrokerReadTag } from '../../errors.ts'
import type { EventId } from '../../events/event-log.ts'
import type { HeldPosition, Ports } from '../../ports/index.ts'
import {
  parsePositionId,
  type AccountId,
  type Owner,
  type PositionId,
  type TenantId,
  type UserId,
} from '../../primitives/ids.ts'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import type { BrokerPosition, Position, PositionsReading } from '../../positions/position.ts'
import { provenanceOf, type Provenance } from '../../primitives/provenance.ts'
import type { ListedTenant } from '../../operator/listing.ts'

/** What is not there is refused as not found. */
export const requireFound =
  (what: string) =>
  <A>(found: AsyncResult<O.Option<A>>): AsyncResult<A, 'NotFound'> =>
    pipe(found, TE.flatMap(TE.fromOption(() => refuse('NotFound', { what }))))

/** Another user's or tenant's account is as absent as one that never existed. */
export const findAccount =
  ({ accounts }: Pick<Ports, 'accounts'>) =>
  (owner: Owner, id: AccountId): AsyncResult<Account, 'AccountNotFound'> =>
  async () => {
    const found = await accounts.find(owner, id)()
    if (E.isLeft(found)) return found
    return O.isSome(found.right) ? E.right(found.right.value) : E.left(refuse('AccountNotFound'))
  }

/** An account by which a list is filtered must be the owner's. */
export const requireOwnAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  (owner: Owner, id: AccountId | undefined): AsyncResult<unknown, 'AccountNotFound'> =>
    id === undefined ? TE.right(undefined) : findAccount(ports)(owner, id)

/** Refuses to continue after an event where a later one may have been cleared away. */
export const requireResumable =
  ({ eventLog }: Pick<Ports, 'eventLog'>) =>
  (owner: Owner, after: EventId | undefined): AsyncResult<void, 'EventGone'> =>
    pipe(
      after === undefined ? TE.right(true) : eventLog.isResumable(owner, after),
      TE.flatMap((isResumable) =>
        isResumable
          ? TE.right(undefined)
          : pipe(
              eventLog.bounds(owner),
              TE.flatMap(({ start, oldest }) =>
                TE.left(refuse('EventGone', { resumeAfter: start, oldest })),
              ),
            ),
      ),
    )

/** An account with the broker's view of it. */
export interface SelectedAccount {
  readonly account: Account
  readonly brokerAccount: BrokerAccount
}

/**
 * The accounts that a read of positions or trades covers: the requested one, or every linked one
 * but paper accounts. Every such read calls this, and it is written out because each step of a pipe
 * costs as much as what is done here.
 */
export const selectBrokerAccounts =
  ({ accounts }: Pick<Ports, 'accounts'>) =>
  (
    owner: Owner,
    accountId: AccountId | undefined,
  ): AsyncResult<
    readonly SelectedAccount[],
    'AccountNotFound' | 'UnsupportedBroker' | 'NotProvisioned'
  > =>
  async () => {
    const selected: SelectedAccount[] = []
    const found = await (accountId === undefined
      ? accounts.list(owner)()
      : findAccount({ accounts })(owner, accountId)())
    if (E.isLeft(found)) return found
    const covered = Array.isArray(found.right)
      ? found.right.filter((account) => !isPaper(account))
      : [found.right]
    for (const account of covered) {
      const brokerAccount = requireBrokerAccount(account)
      if (E.isLeft(brokerAccount)) return brokerAccount
      selected.push({ account, brokerAccount: brokerAccount.right })
    }
    return E.right(selected)
  }

/**
 * An account that its broker calls a demo account, now or when it was last read. One that was never
 * read is read first: the link alone does not prove it.
 */
export const confirmDemo =
  ({ liveAccounts }: Pick<Ports, 'liveAccounts'>) =>
  (account: Account): AsyncResult<Account, 'LiveAccountRestricted' | BrokerReadTag> =>
    pipe(
      account.tradeMode === null
        ? pipe(
            liveAccounts.read(account),
            TE.map((reading) => withReading(account, reading)),
          )
        : TE.right(account),
      TE.filterOrElseW(isDemo, () => refuse('LiveAccountRestricted')),
    )

export type RestrictionTag = 'AccountPurposeRestricted' | 'LiveAccountRestricted'

/** The broker account of an account whose positions and orders may be changed. */
export const requireChangeable =
  (ports: Pick<Ports, 'liveAccounts'>) =>
  (account: Account): AsyncResult<BrokerAccount, BrokerReadTag | RestrictionTag> =>
    pipe(
      TE.fromEither(requireTradable(account)),
      TE.flatMapEither(requireBrokerAccount),
      TE.tap(() => confirmDemo(ports)(account)),
    )

/** An open position with the read that it is from. */
export interface OpenPosition {
  readonly position: BrokerPosition
  readonly reading: PositionsReading
}

export interface PositionResult {
  readonly position: Position
  readonly provenance: Provenance
}

/**
 * The account that a position's id names. An id that is malformed, unknown or another user's is not
 * found.
 */
export const findPositionAccount =
  ({ accounts }: Pick<Ports, 'accounts'>) =>
  (
    owner: Owner,
    text: string,
  ): AsyncResult<{ readonly id: PositionId; readonly account: Account }, 'PositionNotFound'> =>
    pipe(
      TE.fromOption(() => refuse('PositionNotFound'))(parsePositionId(text)),
      TE.bindTo('id'),
      TE.bindW('account', ({ id }) =>
        pipe(
          accounts.find(owner, id.accountId),
          TE.flatMap(TE.fromOption(() => refuse('PositionNotFound'))),
        ),
      ),
    )

/** A position as a page shows it. */
export const showPosition =
  ({ broker }: Pick<Ports, 'broker'>) =>
  (
    brokerAccount: BrokerAccount,
    { position, reading: { readAt } }: OpenPosition,
  ): T.Task<PositionResult> =>
    pipe(
      withMargin({ broker })({ brokerAccount, position }),
      T.map((shown) => ({
        position: shown,
        provenance: provenanceOf(
          broker.source,
          [{ accountId: brokerAccount.accountId, readAt }],
          readAt,
        ),
      })),
    )

/** A margin that cannot be calculated is null. */
export const withMargin =
  ({ broker }: Pick<Ports, 'broker'>) =>
  ({ brokerAccount, position }: HeldPosition): T.Task<Position> => {
    const { symbol, side, volume, entryPrice: openPrice } = position
    const { accountId, owner } = brokerAccount
    return pipe(
      broker.requiredMargin(brokerAccount, { symbol, side, volume, openPrice }),
      TE.match(() => null, O.toNullable),
      T.map((marginUsed) => ({ ...position, accountId, userId: owner.userId, marginUsed })),
    )
  }

/** Lists of an unknown tenant are not found, rather than empty. */
export const requireTenant =
  ({ records }: Pick<Ports, 'records'>) =>
  (tenantId: TenantId): AsyncResult<ListedTenant, 'NotFound'> =>
    requireFound('tenant')(records.find(tenantId))

/** A user by whom a list of a tenant is filtered must be the tenant's. */
export const requireTenantUser =
  ({ users }: Pick<Ports, 'users'>) =>
  (tenantId: TenantId, userId: UserId | undefined): AsyncResult<unknown, 'NotFound'> =>
    userId === undefined
      ? TE.right(undefined)
      : requireFound('user')(users.email({ tenantId, userId }))
