// A dialog that asks before something is done.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

export interface Question {
  readonly title: string
  /** What the button that does it says. */
  readonly verb: string
  /** What the button that does nothing says. */
  readonly back?: string
  /** What will happen. */
  readonly content: ComponentChildren
  readonly onConfirm: () => void
}

/** Returns what asks, and the dialog to render. Escape and the button that goes back do nothing. */
export const useConfirm = (): readonly [(question: Question) => void, ComponentChildren] => {
  const [question, setQuestion] = useState<Question>()
  const close = (): void => setQuestion(undefined)
  return [setQuestion, question && <Dialog question={question} onClose={close} />]
}

const Dialog = ({
  question: { title, verb, back = 'Cancel', content, onConfirm },
  onClose,
}: {
  question: Question
  onClose: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  // Closed before it goes, so that the focus returns to where it was.
  const leave = (then?: () => void): void => {
    dialog.current?.close()
    onClose()
    then?.()
  }
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        leave()
      }}
    >
      <h2>{title}</h2>
      {content}
      <div class="buttons">
        <button type="button" onClick={() => leave()}>
          {back}
        </button>
        <button type="button" class="primary" onClick={() => leave(onConfirm)}>
          {verb}
        </button>
      </div>
    </dialog>
  )
}
