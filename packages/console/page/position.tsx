// One position: what it is while it is open, and the trade that it has become.
import { lots } from './format.ts'
import { Age, Section, ReadResult } from './parts.tsx'
import { PositionTable } from './position-table.tsx'
import { readPosition } from './positions.ts'
import { useAccounts, useRead } from './read.ts'
import { useSession } from './session.ts'
import { TradePage, useMountedRecently } from './trade.tsx'

const everyMs = 10_000

export const PositionPage = ({ id }: { id: string }) => {
  const { whyHidden } = useSession()
  const isRecent = useMountedRecently()
  const read = useRead(
    'positions',
    id,
    async (client, signal) => (await readPosition(client, id, signal)) ?? 'closed',
    // One that was just opened may not be listed yet.
    { everyMs, isFinal: (position) => position === 'closed' && !isRecent },
  )
  const accounts = useAccounts()
  // A position and the trade that it becomes have one id.
  if (read.data === 'closed') return <TradePage id={id} />
  return (
    <ReadResult read={read}>
      {(position) => {
        if (position === 'closed') return null
        const { accountId, symbol, type, volume, brokerPositionId } = position
        const account = accounts.data?.find((one) => one.id === accountId) ?? { name: accountId }
        return (
          <>
            <h1>
              {symbol} {type} {lots(volume)} lots, ticket {brokerPositionId}
            </h1>
            <Section
              title="Open position"
              aside={
                read.readAt && (
                  <>
                    read <Age iso={read.readAt} />
                  </>
                )
              }
            >
              <PositionTable
                held={[{ position, account }]}
                isOfSeveral
                isSummed
                mayChange={!whyHidden('changing')}
              />
            </Section>
          </>
        )
      }}
    </ReadResult>
  )
}
