// Writes: one at a time, confirmed in words where they cannot be undone, with their outcome.
import { isTradeportError } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Notice } from './parts.tsx'
import { sentenceOf } from './session.ts'

interface Action {
  readonly isRunning: boolean
  readonly done: string | undefined
  readonly failure: string | undefined
  /** @returns whether it was done; `work` returns what was done, as a sentence */
  readonly run: (work: () => Promise<string | undefined>) => Promise<boolean>
}

export const useAction = (): Action => {
  const [state, setState] = useState<Omit<Action, 'run'>>({
    isRunning: false,
    done: undefined,
    failure: undefined,
  })
  const run: Action['run'] = async (work) => {
    setState({ isRunning: true, done: undefined, failure: undefined })
    try {
      setState({ isRunning: false, done: await work(), failure: undefined })
      return true
    } catch (error) {
      setState({ isRunning: false, done: undefined, failure: failureOf(error) })
      return false
    }
  }
  return { ...state, run }
}

const failureOf = (error: unknown): string =>
  isTradeportError(error) && error.outcome === 'unknown'
    ? `${sentenceOf(error)} It may have been done: look at what is shown now before you try again.`
    : sentenceOf(error)

export const Outcome = ({ action: { done, failure } }: { action: Action }) => (
  <>
    {done !== undefined && (
      <p class="notice done" role="status">
        {done}
      </p>
    )}
    {failure !== undefined && <Notice kind="warning">{failure}</Notice>}
  </>
)

/** Asks before something is done. Escape and Cancel do nothing. */
export const Confirm = ({
  title,
  action,
  back = 'Cancel',
  children,
  onConfirm,
  onCancel,
}: {
  title: string
  /** What the button that does it says. */
  action: string
  /** What the button that does nothing says. */
  back?: string
  children: ComponentChildren
  onConfirm: () => void
  onCancel: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  // Closed before it goes, so that the focus returns to where it was.
  const leave = (then: () => void): void => {
    dialog.current?.close()
    then()
  }
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        leave(onCancel)
      }}
    >
      <h2>{title}</h2>
      {children}
      <div class="buttons">
        <button type="button" onClick={() => leave(onCancel)}>
          {back}
        </button>
        <button type="button" class="primary" onClick={() => leave(onConfirm)}>
          {action}
        </button>
      </div>
    </dialog>
  )
}
