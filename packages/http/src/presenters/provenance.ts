// meta.provenance: where the data of a reply comes from (2.1), and on trades routes what could not be folded (4.5).
import { createIsoWriter, skipReasons } from '@tradeport/domain'
import type { Provenance, TradeProvenance } from '@tradeport/domain'
import { choice, list, object, record, text, time, uuid } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'
import { exampleAccountId } from './examples.ts'

const source = {
  source: text("The provider's name.", 'metaapi'),
  accounts: list(uuid('An account.', exampleAccountId), 'The accounts that were read.'),
  readAt: time('When they were read; of several reads the oldest.'),
}

export const provenanceShape = record('Provenance', 'Where the data comes from and how old it is.', source)

export const tradeProvenanceShape = record('TradeProvenance', 'Where the trades come from, and what could not be made one.', {
  ...source,
  skipped: list(
    object('A position that is in no list and no statistic.', {
      accountId: uuid('The account it is on.', exampleAccountId),
      positionId: text("The broker's ticket.", '46501993'),
      reason: choice(skipReasons, 'Why it could not be folded into a trade.', 'no_open_deal'),
    }),
    'Positions of these accounts whose deals could not be folded into a trade.',
  ),
})

// What is read from a cache was read at the same moment.
const writeReadAt = createIsoWriter()

export const presentProvenance = ({ source, accounts, readAt }: Provenance): Shown<typeof provenanceShape> => ({
  source,
  accounts,
  readAt: writeReadAt(readAt),
})

export const presentTradeProvenance = (provenance: TradeProvenance): Shown<typeof tradeProvenanceShape> => ({
  ...presentProvenance(provenance),
  skipped: provenance.skipped.map(({ accountId, positionId, reason }) => ({ accountId, positionId, reason })),
})
