// What can be changed on an account: its open positions, and its halt.
import type { Account, DataOf, Position } from '@tradeport/client'
import { useState } from 'preact/hooks'
import { lots } from './format.ts'
import { Notice, ReadResult, ReadSection, Section, Time, type Column } from './parts.tsx'
import { PositionTable, type PositionRow } from './position-table.tsx'
import type { Read } from './read.ts'
import type { Ask } from './send-question.tsx'
import type { Writes } from './writes.ts'

export const PositionList = ({
  read,
  account,
  chosen,
  whyReadOnly,
  ask,
  write,
}: {
  read: Read<readonly Position[]>
  account: Account
  chosen: string | undefined
  /** Why the key may not change them. */
  whyReadOnly: string | undefined
  ask: Ask
  write: Writes
}) => {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const positions = read.data ?? []
  const ticked = positions.filter(({ id }) => selected.has(id))
  const isWhole = positions.length > 0 && ticked.length === positions.length
  const toggle = (id: string): void => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    setSelected(next)
  }
  const closeSelected = (): void =>
    ask({
      verb: ticked.length === 1 ? 'Close it' : `Close these ${ticked.length}`,
      writesFor: ({ positions: now }) =>
        now.filter(({ id }) => selected.has(id)).map((one) => write.close(one)),
    })
  const tick: Column<PositionRow> = [
    'Select',
    ({ position: { id, symbol, type, volume, brokerPositionId } }) => (
      <input
        type="checkbox"
        aria-label={`Select ${symbol} ${type} ${lots(volume)}, position ${brokerPositionId}`}
        checked={selected.has(id)}
        onChange={() => toggle(id)}
      />
    ),
    'tick',
    <input
      type="checkbox"
      aria-label="Select all positions"
      checked={isWhole}
      onChange={() => setSelected(new Set(isWhole ? [] : positions.map(({ id }) => id)))}
    />,
  ]
  return (
    <Section
      title="Open positions"
      aside={
        !whyReadOnly &&
        positions.length > 0 && (
          <button type="button" disabled={ticked.length === 0} onClick={closeSelected}>
            Close selected ({ticked.length})…
          </button>
        )
      }
    >
      {whyReadOnly && !read.whyHidden && <Notice>{whyReadOnly}</Notice>}
      <ReadResult read={read}>
        {(list) =>
          list.length === 0 ? (
            <p class="quiet">No position is open.</p>
          ) : (
            <PositionTable
              held={list.map((position) => ({ position, account }))}
              isSummed={!read.failure}
              chosen={chosen}
              mayChange={!whyReadOnly}
              tick={whyReadOnly ? undefined : tick}
            />
          )
        }
      </ReadResult>
    </Section>
  )
}

const counted = (count: number | undefined): string => (count === undefined ? '' : ` (${count})`)

export const HaltSection = ({
  read,
  accountName,
  openCount,
  orderCount,
  whyReadOnly,
  ask,
  write,
}: {
  read: Read<DataOf<'getHalt'>>
  accountName: string
  openCount: number | undefined
  orderCount: number | undefined
  whyReadOnly: string | undefined
  ask: Ask
  write: Writes
}) => {
  const submit = ({ currentTarget }: { readonly currentTarget: HTMLFormElement }): void => {
    const form = new FormData(currentTarget)
    const typed = form.get('reason')
    const reason = typeof typed === 'string' ? typed.trim() : ''
    const terms = {
      closePositions: form.has('closePositions'),
      cancelOrders: form.has('cancelOrders'),
      ...(reason !== '' && { reason }),
    }
    ask({ verb: 'Halt the account', writesFor: () => write.halt(terms) })
  }
  return (
    <ReadSection title={`Halt ${accountName}`} read={read}>
      {({ by, since, reason }) =>
        by !== null ? (
          <>
            <Notice kind="warning">
              The account is halted by its {by}
              {since !== null && (
                <>
                  {' '}
                  since <Time iso={since} />
                </>
              )}{' '}
              and accepts no orders.{reason !== null && ` Why: ${reason}.`}{' '}
              {by === 'operator' && 'Only the operator can lift that.'}
            </Notice>
            {by === 'owner' && !whyReadOnly && (
              <button
                type="button"
                onClick={() => ask({ verb: 'Lift the halt', writesFor: write.liftHalt })}
              >
                Lift the halt…
              </button>
            )}
          </>
        ) : whyReadOnly ? (
          <Notice>{whyReadOnly}</Notice>
        ) : (
          <form class="halt" onSubmit={submit}>
            <p class="quiet">
              A halted account accepts no order until the halt is lifted. Its positions can still be
              changed and closed.
            </p>
            <label class="check">
              <input type="checkbox" name="cancelOrders" />
              Also cancel its open orders{counted(orderCount)}
            </label>
            <label class="check">
              <input type="checkbox" name="closePositions" />
              Also close its positions{counted(openCount)}
            </label>
            <div class="field">
              <label>
                Reason
                <input name="reason" maxLength={200} autocomplete="off" />
              </label>
            </div>
            <button type="submit">Halt the account…</button>
          </form>
        )
      }
    </ReadSection>
  )
}
