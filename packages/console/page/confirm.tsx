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

/**
 * Returns what asks, or with undefined stops asking, and the dialog to render. Escape and the back
 * button close it without confirming.
 */
export const useConfirm = (): readonly [
  (question: Question | undefined) => void,
  ComponentChildren,
] => {
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
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={({ currentTarget }) => {
        onClose()
        if (currentTarget.returnValue === 'confirmed') onConfirm()
      }}
    >
      <h2>{title}</h2>
      <form method="dialog">
        {content}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {back}
          </button>
          <button type="submit" class="primary" value="confirmed">
            {verb}
          </button>
        </div>
      </form>
    </dialog>
  )
}
