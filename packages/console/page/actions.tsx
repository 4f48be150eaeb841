// What a button does: one thing at a time, with its outcome.
import { isTradeportError, newIdempotencyKey } from '@tradeport/client'
import { useRef, useState } from 'preact/hooks'
import { Notice } from './parts.tsx'
import { sentenceOf } from './words.ts'

export interface Action {
  readonly isRunning: boolean
  readonly done?: string | undefined
  readonly failure?: string
  /**
   * @param work returns what was done, as a sentence
   * @param name of what it does. Where the outcome of one is unknown, the next of the same name
   * gets the same Idempotency-Key, with which the service does both once
   */
  readonly run: (
    work: (idempotencyKey: string) => Promise<string | undefined>,
    name?: string,
  ) => Promise<void>
}

export const useAction = (): Action => {
  const [state, setState] = useState<Omit<Action, 'run'>>({ isRunning: false })
  const keys = useRef(new Map<string, string>()).current
  const run: Action['run'] = async (work, name = '') => {
    const key = keys.get(name) ?? newIdempotencyKey()
    keys.delete(name)
    setState({ isRunning: true })
    try {
      setState({ isRunning: false, done: await work(key) })
    } catch (error) {
      if (isUnknown(error)) keys.set(name, key)
      setState({ isRunning: false, failure: failureOf(error) })
    }
  }
  return { ...state, run }
}

const isUnknown = (error: unknown): boolean =>
  isTradeportError(error) && error.outcome === 'unknown'

const failureOf = (error: unknown): string =>
  isUnknown(error)
    ? `${sentenceOf(error)} It may have been done. Try again: both times together do it once.`
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
