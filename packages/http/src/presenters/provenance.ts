// meta.provenance: where the data of a reply comes from (2.1), and on trades routes what could not be folded (4.5).
import { toIso } from '@tradeport/domain'
import type { Provenance, TradeProvenance } from '@tradeport/domain'

export const presentProvenance = ({ source, accounts, readAt }: Provenance): object => ({ source, accounts, readAt: toIso(readAt) })

export const presentTradeProvenance = (provenance: TradeProvenance): object => ({
  ...presentProvenance(provenance),
  skipped: provenance.skipped.map(({ accountId, positionId, reason }) => ({ accountId, positionId, reason })),
})
