// meta.provenance: where the data of a reply comes from.
import { skipReasons } from '@tradeport/domain/trades'
import { accountId, ticket } from '../fields.ts'
import { list, object, oneOf, record, text, time } from '../schema.ts'

const source = {
  source: text("The provider's name.", 'metaapi'),
  accounts: list(accountId, 'The accounts that were read.'),
  readAt: time('When they were read; of several reads the oldest.'),
}

export const provenanceShape = record(
  'Provenance',
  'Where the data comes from and how old it is.',
  source,
)

export const tradeProvenanceShape = record(
  'TradeProvenance',
  'Where the trades come from, and which positions are missing.',
  {
    ...source,
    skipped: list(
      object('A position that is in no list and no statistic.', {
        accountId,
        positionId: ticket,
        reason: oneOf(skipReasons, 'Why it could not be folded into a trade.', 'no_open_deal'),
      }),
      'Positions of these accounts whose deals could not be folded into a trade.',
    ),
  },
)

/** What every route that reads a broker can be refused for. */
export const brokerReadRefusals = [
  'UnsupportedBroker',
  'NotProvisioned',
  'BrokerUnavailable',
  'BrokerRateLimited',
] as const
