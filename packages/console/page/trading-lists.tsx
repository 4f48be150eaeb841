// What can be changed on an account: its open positions, and its halt.
import type { Account, DataOf, Position } from '@tradeport/client'
import { lots } from './format.ts'
import { figureHeads, heads, Notice, Result, Scroll, Section, Shown, Time } from './parts.tsx'
import type { Read } from './read.ts'
import { sameDigits } from './words.ts'

export const PositionList = ({
  read,
  account,
  chosen,
  whyFixed,
  selected,
  onSelect,
  onCloseSelected,
}: {
  read: Read<readonly Position[]>
  account: Account
  chosen: string | undefined
  /** Why the key may not change them. */
  whyFixed: string | undefined
  selected: ReadonlySet<string>
  onSelect: (selected: ReadonlySet<string>) => void
  onCloseSelected: (positions: readonly Position[]) => void
}) => {
  const positions = read.data ?? []
  const ticked = positions.filter(({ id }) => selected.has(id))
  const toggle = (id: string): void => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    onSelect(next)
  }
  const isWhole = positions.length > 0 && ticked.length === positions.length
  return (
    <Section
      title="Open positions"
      aside={
        whyFixed === undefined &&
        positions.length > 0 && (
          <button
            type="button"
            disabled={ticked.length === 0}
            onClick={() => onCloseSelected(ticked)}
          >
            Close selected ({ticked.length})…
          </button>
        )
      }
    >
      {whyFixed !== undefined && <Notice>{whyFixed}</Notice>}
      <Shown read={read}>
        {(list) =>
          list.length === 0 ? (
            <p class="quiet">No position is open.</p>
          ) : (
            <Scroll label="Open positions">
              <table>
                <thead>
                  <tr>
                    {whyFixed === undefined && (
                      <th scope="col" class="tick">
                        <input
                          type="checkbox"
                          aria-label="Select all positions"
                          checked={isWhole}
                          onChange={() =>
                            onSelect(new Set(isWhole ? [] : list.map(({ id }) => id)))
                          }
                        />
                      </th>
                    )}
                    {heads('Symbol', 'Side')}
                    {figureHeads('Lots', 'Entry', 'Now', 'Stop loss', 'Take profit', 'Open result')}
                  </tr>
                </thead>
                <tbody>
                  {list.map((position) => {
                    const { id, symbol, type, volume, entryPrice, currentPrice } = position
                    const { stopLoss, takeProfit } = position
                    const format = sameDigits(entryPrice, currentPrice, stopLoss, takeProfit)
                    return (
                      <tr key={id} class={id === chosen ? 'chosen' : undefined}>
                        {whyFixed === undefined && (
                          <td>
                            <input
                              type="checkbox"
                              aria-label={`Select ${symbol} ${type} ${lots(volume)}, position ${position.brokerPositionId}`}
                              checked={selected.has(id)}
                              onChange={() => toggle(id)}
                            />
                          </td>
                        )}
                        <th scope="row">
                          {whyFixed === undefined ? (
                            <a
                              href={`/console/trading?account=${account.id}&position=${encodeURIComponent(id)}`}
                              aria-current={id === chosen ? 'true' : undefined}
                              title="Change its levels or close it"
                            >
                              {symbol}
                            </a>
                          ) : (
                            symbol
                          )}
                        </th>
                        <td class={type}>{type}</td>
                        <td class="figure">{lots(volume)}</td>
                        <td class="figure">{format(entryPrice)}</td>
                        <td class="figure">{format(currentPrice)}</td>
                        <td class="figure">{format(stopLoss)}</td>
                        <td class="figure">{format(takeProfit)}</td>
                        <td class="figure">
                          <Result amount={position.unrealizedPnl} currency={account.currency} />
                        </td>
                      </tr>
                    )
                  })}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </Shown>
    </Section>
  )
}

const counted = (count: number | undefined): string => (count === undefined ? '' : ` (${count})`)

export const HaltSection = ({
  read,
  account,
  whyNot,
  openCount,
  orderCount,
  onHalt,
  onLift,
}: {
  read: Read<DataOf<'getHalt'>>
  account: Account
  whyNot: string | undefined
  openCount: number | undefined
  orderCount: number | undefined
  onHalt: (terms: { closePositions: boolean; cancelOrders: boolean; reason: string }) => void
  onLift: () => void
}) => {
  const submit = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const reason = form.get('reason')
    onHalt({
      closePositions: form.has('closePositions'),
      cancelOrders: form.has('cancelOrders'),
      reason: typeof reason === 'string' ? reason.trim() : '',
    })
  }
  return (
    <Section title={`Halt ${account.name}`}>
      {whyNot !== undefined ? (
        <Notice>{whyNot}</Notice>
      ) : (
        <Shown read={read}>
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
                {by === 'owner' && (
                  <button type="button" onClick={onLift}>
                    Lift the halt…
                  </button>
                )}
              </>
            ) : (
              <form class="halt" onSubmit={submit}>
                <p class="quiet">
                  A halted account accepts no order until the halt is lifted. Its positions can
                  still be changed and closed.
                </p>
                <label class="check">
                  <input type="checkbox" name="cancelOrders" />
                  Also cancel its working orders{counted(orderCount)}
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
        </Shown>
      )}
    </Section>
  )
}
