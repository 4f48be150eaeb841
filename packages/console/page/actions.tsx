// What a button does: one thing at a time, with its outcome.
import { isTradeportError, newIdempotencyKey } from '@tradeport/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Notice } from './parts.tsx'
import { outcomeOfError } from './sent.ts'
import { sentenceOf } from './words.ts'

export interface Action {
  readonly isRunning: boolean
  readonly done?: string | undefined
  readonly failure?: string
  /**
   * @param work returns what was done, as a sentence. `signal` aborts once its page is left
   * @param name of what it does. While its outcome is unknown, each of the same name gets the same
   * Idempotency-Key, with which the service does all of them once
   */
  readonly run: (
    work: (idempotencyKey: string, signal: AbortSignal) => Promise<string | undefined>,
    name?: string,
  ) => Promise<void>
}

/** @param onEnd called after each attempt, whatever its outcome is */
export const useAction = (onEnd?: () => void): Action => {
  const [state, setState] = useState<Omit<Action, 'run'>>({ isRunning: false })
  /** Of what may have been done. */
  const keys = useRef(new Map<string, string>()).current
  const gone = useRef(new AbortController()).current
  useEffect(() => () => gone.abort(), [])
  const run: Action['run'] = async (work, name = '') => {
    const key = keys.get(name) ?? newIdempotencyKey()
    setState({ isRunning: true })
    try {
      const done = await work(key, gone.signal)
      keys.delete(name)
      setState({ isRunning: false, done })
    } catch (error) {
      // Another error says what was answered.
      const { state, text } = isTradeportError(error)
        ? outcomeOfError(error, keys.has(name))
        : { state: 'not_done', text: sentenceOf(error) }
      const isUnknown = state === 'unknown'
      if (isUnknown) keys.set(name, key)
      else keys.delete(name)
      const failure = isUnknown ? `${text} You may try again: it is not done twice.` : text
      setState({ isRunning: false, failure })
    }
    onEnd?.()
  }
  return { ...state, run }
}

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
