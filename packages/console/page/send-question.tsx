// The question before a write is sent. Nothing is sent before the user has confirmed a sentence that
// describes it.
import type { Order, Position } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { Notice } from './parts.tsx'
import { useSentWrites } from './sent-list.tsx'
import { useSession } from './session.ts'
import { isUnresolved, type Write } from './write-tracker.ts'

/** What an account holds, as far as a write may depend on it. */
interface Holdings {
  readonly position: Position | undefined
  readonly order: Order | undefined
  readonly positions: readonly Position[]
  readonly orderCount: number | undefined
}

export interface Question {
  /** On the button that confirms. */
  readonly verb: string
  readonly writesFor: (holdings: Holdings) => Write | readonly Write[] | undefined
  readonly onDone?: () => void
  /** Shown beneath the sentences of the writes. */
  readonly detail?: ComponentChildren
}

/** Asks the user to confirm writes. */
export type Ask = (question: Question) => void

/** It cannot be confirmed while its sentences would read differently. */
export const SendQuestion = ({
  question: { verb, writesFor, onDone, detail },
  holdings,
  onClose,
}: {
  question: Question
  holdings: Holdings
  onClose: () => void
}) => {
  const { tracker } = useSession()
  const unresolved = useSentWrites().filter(isUnresolved)
  const writes = [writesFor(holdings) ?? []].flat()
  const sentences = writes.map(({ words }) => words).join()
  const asked = useRef<string | undefined>(sentences)
  // It stays withdrawn even if the sentences come back: a click that is on its way would confirm it.
  if (sentences !== asked.current) asked.current = undefined
  if (asked.current === undefined)
    return (
      <Dialog key="changed" title="Nothing was sent" back="Close" onClose={onClose}>
        <Notice kind="warning">What you hold has changed: look at it, and ask again.</Notice>
      </Dialog>
    )
  const isRepeated = writes.some(({ words, positionToClose }) =>
    unresolved.some(
      (one) => one.words === words || (positionToClose && one.positionToClose === positionToClose),
    ),
  )
  return (
    <Dialog
      key="question"
      title="Send this?"
      verb={verb}
      back="Do not send"
      onClose={onClose}
      onConfirm={() => {
        for (const one of writes) tracker.run(one, onDone)
      }}
    >
      {writes.map(({ words }) => (
        <p key={words} class="sentence">
          {words}.
        </p>
      ))}
      {detail}
      {isRepeated && (
        <Notice kind="warning">
          You have already sent this, or another close of the same position, and its outcome is not
          known yet. This one would be done in addition.
        </Notice>
      )}
    </Dialog>
  )
}
