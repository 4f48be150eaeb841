// The broker contract over the simulated provider, through real sockets.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Fault } from '@tradeport/sandbox-broker'
import type { BrokerAccount } from '@tradeport/domain'
import { describeBrokerContract } from '@tradeport/domain/testing'
import type { VenueTrouble } from '@tradeport/domain/testing'
import { createMetaApiBroker } from '../src/index.ts'
import { account, rowOf } from './support.ts'

const token = 'contract-token'

const faults: Readonly<Record<VenueTrouble, Fault>> = {
  unavailable: { kind: 'timeout' },
  rate_limited: { kind: 'rate-limit', retryAfterSeconds: 2 },
  not_provisioned: { kind: 'not-found' },
}

describeBrokerContract('the adapter over the sandbox', async (books) => {
  const ids = books.map((_, index) => `p-${index}`)
  const sandbox = await startSandbox({
    tokens: [token],
    accounts: books.map(({ tradeMode, broker, currency, leverage, positions, deals }, index) => ({
      id: `p-${index}`,
      type: tradeMode,
      broker,
      currency,
      leverage,
      // The first is asked in the region of its link, the others where provisioning says that they are.
      region: index === 0 ? 'london' : 'singapore',
      positions,
      ...(positions.length === 0 && { history: { deals: deals.map(rowOf) } }),
    })),
  })
  return {
    broker: createMetaApiBroker({
      provisioningUrl: sandbox.url,
      clientUrl: `${sandbox.url}/{region}`,
      providerToken: () => TE.right(O.some(token)),
      clock: { now: Date.now },
    }),
    accounts: ids.map((providerAccountId, index): BrokerAccount => ({
      ...account,
      accountId: `${account.accountId.slice(0, -1)}${index}` as BrokerAccount['accountId'],
      providerAccountId,
      region: index === 0 ? 'london' : null,
    })),
    trouble: async ({ providerAccountId }, trouble) => sandbox.faults.set(providerAccountId, 'any', faults[trouble]),
    addDeals: async ({ providerAccountId }, deals) => sandbox.account(providerAccountId).addDeals(deals.map(rowOf)),
    withholdMargins: async ({ providerAccountId }) => sandbox.faults.set(providerAccountId, 'margin', { kind: 'no-margin' }),
    close: sandbox.close,
  }
})
