// What most use cases look up or require first of a caller's accounts.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import {
  isPaper,
  requireBrokerAccount,
  requireDemo,
  requireTradable,
  withReading,
  type Account,
  type BrokerAccount,
} from '../../accounts/account.ts'
import {
  refuse,
  type AsyncResult,
  type BrokerReadTag,
  type Refusal,
  type ServiceUnavailable,
} from '../../errors.ts'
import type { Ports } from '../../ports/index.ts'
import {
  parseAccountId,
  parsePositionId,
  type AccountId,
  type Owner,
  type PositionId,
} from '../../primitives/ids.ts'
import { hourMs, type Instant } from '../../primitives/instant.ts'

/** What is not there is refused as not found. */
export const requireFound =
  (what: string) =>
  <A, Failure>(
    found: TE.TaskEither<Failure, O.Option<A>>,
  ): TE.TaskEither<Failure | Refusal<'NotFound'>, A> =>
    pipe(found, TE.flatMap(TE.fromOption(() => refuse('NotFound', { what }))))

/**
 * What has this id, by a read or a write; `id` is none where it is malformed, which is not found
 * either.
 */
export const requireById = <Id, A, Failure>(
  what: string,
  id: O.Option<Id>,
  find: (id: Id) => TE.TaskEither<Failure, O.Option<A>>,
): TE.TaskEither<Failure | Refusal<'NotFound'>, A> =>
  requireFound(what)(O.isNone(id) ? TE.right(O.none) : find(id.value))

/**
 * Another user's or tenant's account, and a malformed id, are as absent as one that never existed.
 */
export const findAccount =
  ({ accounts }: Pick<Ports, 'accounts'>) =>
  (owner: Owner, text: string): AsyncResult<Account, 'AccountNotFound'> =>
  async () => {
    const id = parseAccountId(text)
    if (O.isNone(id)) return E.left(refuse('AccountNotFound'))
    const found = await accounts.find(owner, id.value)()
    if (E.isLeft(found)) return found
    return O.isSome(found.right) ? E.right(found.right.value) : E.left(refuse('AccountNotFound'))
  }

/** An account that is linked at the provider. */
export const findBrokerAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  (
    owner: Owner,
    text: string,
  ): AsyncResult<BrokerAccount, 'AccountNotFound' | 'UnsupportedBroker' | 'NotProvisioned'> =>
    pipe(findAccount(ports)(owner, text), TE.flatMapEither(requireBrokerAccount))

/**
 * The account that the id of a position names, or of its trade. An id that is malformed, unknown or
 * another user's is refused with `notFound`.
 */
export const findPositionAccount =
  ({ accounts }: Pick<Ports, 'accounts'>) =>
  <NotFound extends Refusal>(
    owner: Owner,
    text: string,
    notFound: NotFound,
  ): TE.TaskEither<
    NotFound | ServiceUnavailable,
    { readonly id: PositionId; readonly account: Account }
  > =>
    pipe(
      TE.fromOption(() => notFound)(parsePositionId(text)),
      TE.bindTo('id'),
      TE.bindW('account', ({ id }) =>
        pipe(accounts.find(owner, id.accountId), TE.flatMap(TE.fromOption(() => notFound))),
      ),
    )

/** An account by which a list is filtered must be the owner's. */
export const requireOwnAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  (owner: Owner, id: AccountId | undefined): AsyncResult<unknown, 'AccountNotFound'> =>
    id === undefined ? TE.right(undefined) : findAccount(ports)(owner, id)

/** An account with the broker's view of it. */
export interface SelectedAccount {
  readonly account: Account
  readonly brokerAccount: BrokerAccount
}

/**
 * The accounts that a read of positions or trades covers: the requested one, or every linked one
 * but paper accounts. Every such read calls this, and it uses await because each step of a pipe
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
    const selected = []
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
 * Reads accounts at once. Of those that cannot be read the first to fail is named, since its rate
 * limit may be why others cannot.
 */
export const readEach =
  <Failure, A>(reads: readonly TE.TaskEither<Failure, A>[]): TE.TaskEither<Failure, readonly A[]> =>
  async () => {
    const failures: E.Either<Failure, never>[] = []
    const results = await Promise.all(
      reads.map(async (read) => {
        const result = await read()
        if (E.isLeft(result)) failures.push(result)
        return result
      }),
    )
    return failures[0] ?? E.sequenceArray(results)
  }

/**
 * An account that its broker has called a demo account within the last hour. Where the last reading
 * is older, or there is none, it is read now: that it was a demo account when it was linked proves
 * nothing, since an account at the provider can be moved to another login.
 */
export const confirmDemo =
  ({ liveAccounts, clock }: ConfirmPorts) =>
  (account: Account): AsyncResult<Account, 'LiveAccountRestricted' | BrokerReadTag> =>
    pipe(
      wasReadWithinHour(account, clock.now())
        ? TE.right(account)
        : pipe(
            liveAccounts.read(account),
            TE.map((reading) => withReading(account, reading)),
          ),
      TE.flatMapEither(requireDemo),
    )

type ConfirmPorts = Pick<Ports, 'liveAccounts' | 'clock'>

/** A reading from an hour or more in the future does not count: a clock was wrong then. */
const wasReadWithinHour = ({ lastReadAt }: Account, now: Instant): boolean =>
  lastReadAt !== null && Math.abs(now - lastReadAt) < hourMs

export type RestrictionTag = 'AccountPurposeRestricted' | 'LiveAccountRestricted'

/** The broker account of an account whose positions and orders may be changed. */
export const requireChangeable =
  (ports: ConfirmPorts) =>
  (account: Account): AsyncResult<BrokerAccount, BrokerReadTag | RestrictionTag> =>
    pipe(
      TE.fromEither(requireTradable(account)),
      TE.flatMapEither(requireBrokerAccount),
      TE.tap(() => confirmDemo(ports)(account)),
    )
