// Reads of one symbol of an account, and of the list of its symbols.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerReadError } from '@tradeport/domain/errors'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Decoder } from 'io-ts'
import type { Connection } from './connection.ts'
import { CallFailure, unavailable } from './failures.ts'
import { decode, isRecord, readText } from './payloads.ts'
import type { ReadRequest } from './requests.ts'

/**
 * A 404 may mean the account or the symbol. If the account can be read, the symbol is unknown, and
 * reads of it are paused: after many such requests the provider limits the token.
 */
export const createSymbolRead =
  ({ fetchFrom, readInformation, asPortRead, symbolPauses }: Connection) =>
  <Row, A>(
    account: BrokerAccount,
    request: ReadRequest,
    codec: Decoder<unknown, Row>,
    translate: (row: Row) => A,
  ): TE.TaskEither<BrokerReadError, A> => {
    const { symbol } = request
    const reading = asPortRead(account, async () => {
      const { owner, providerAccountId } = account
      const key = JSON.stringify([owner.tenantId, providerAccountId, request.route, symbol])
      const attempt = symbolPauses.begin(key)
      if (attempt.kind === 'paused') throw attempt.failure
      try {
        const answer = await fetchFrom(account, request, decode(codec))
        symbolPauses.reset(key)
        if ([answer].flat().some((row) => isOfAnother(row, request)))
          throw unavailable(`${request.route}: the response is of another symbol or timeframe`)
        return translate(answer)
      } catch (failure) {
        if (failure instanceof CallFailure && failure.fault.kind === 'not_found') {
          await readInformation(account)
          attempt.failed(failure)
        }
        throw failure
      } finally {
        attempt.release()
      }
    })
    return TE.mapLeft((error: BrokerReadError) =>
      error._tag === 'BrokerUnavailable' && error.cause === undefined && symbol !== undefined
        ? { ...error, symbol }
        : error,
    )(reading)
  }

/** A cache in between may keep a response under the wrong key. */
const isOfAnother = (row: unknown, { symbol, path }: ReadRequest): boolean => {
  if (symbol === undefined || !isRecord(row)) return false
  const timeframe = readText(row['timeframe'])
  return (
    (readText(row['symbol']) ?? symbol) !== symbol ||
    (timeframe !== undefined && !path.includes(`/${timeframe}/`))
  )
}
