// What a button does: one thing at a time, with its outcome.
import { isTradeportError } from '@tradeport/client'
import { useState } from 'preact/hooks'
import { Notice } from './parts.tsx'
import { sentenceOf } from './words.ts'

export interface Action {
  readonly isRunning: boolean
  readonly done?: string | undefined
  readonly failure?: string
  /** `work` returns what was done, as a sentence. */
  readonly run: (work: () => Promise<string | undefined>) => Promise<void>
}

export const useAction = (): Action => {
  const [state, setState] = useState<Omit<Action, 'run'>>({ isRunning: false })
  const run: Action['run'] = async (work) => {
    setState({ isRunning: true })
    try {
      setState({ isRunning: false, done: await work() })
    } catch (error) {
      setState({ isRunning: false, failure: failureOf(error) })
    }
  }
  return { ...state, run }
}

const failureOf = (error: unknown): string =>
  isTradeportError(error) && error.outcome === 'unknown'
    ? `${sentenceOf(error)} It may have been done: look at what is shown now before you try again.`
    : sentenceOf(error)

export const ActionMessage = ({ action: { done, failure } }: { action: Action }) => (
  <>
    {done !== undefined && (
      <p class="notice done" role="status">
        {done}
      </p>
    )}
    {failure !== undefined && <Notice kind="warning">{failure}</Notice>}
  </>
)
