// A dialog that says what will happen before it does.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Confirm } from './actions.tsx'

export interface Question {
  /** Of the button that does it. */
  readonly verb: string
  /** What will happen, one sentence for each write. */
  readonly sentences: readonly string[]
  readonly detail?: ComponentChildren
  readonly onConfirm: () => void
}

/** Returns what asks, and the dialog to render. */
export const useConfirm = (): readonly [(question: Question) => void, ComponentChildren] => {
  const [question, setQuestion] = useState<Question>()
  if (question === undefined) return [setQuestion, null]
  const { verb, sentences, detail, onConfirm } = question
  const close = (): void => setQuestion(undefined)
  const dialog = (
    <Confirm
      title="Send this?"
      action={verb}
      back="Do not send"
      onCancel={close}
      onConfirm={() => {
        close()
        onConfirm()
      }}
    >
      {sentences.map((sentence) => (
        <p key={sentence} class="sentence">
          {sentence}.
        </p>
      ))}
      {detail}
    </Confirm>
  )
  return [setQuestion, dialog]
}
