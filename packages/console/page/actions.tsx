// What a button does: one thing at a time, with its outcome.
import { isTradeportError, newIdempotencyKey, sleep } from '@tradeport/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { duration } from './format.ts'
import { Notice } from './parts.tsx'
import { useSession } from './session.ts'
import { sentenceOf } from './words.ts'
import { outcomeOfError, retryAfterMs } from './write-tracker.ts'

/** Returns what was done, as a sentence. `signal` aborts once its page is left. */
export type Work = (idempotencyKey: string, signal: AbortSignal) => Promise<string | undefined>

interface ActionState {
  /** While it runs, and then for as long as the service asks to wait. */
  readonly isDisabled: boolean
  readonly done?: string | undefined
  readonly failure?: string
}

/**
 * @param subject what all of its actions are about, such as the id of a webhook
 * @param onEnd called after each attempt, whatever its outcome is, unless the page was left
 */
export const useAction = (subject: string, onEnd?: () => void) => {
  const [state, setState] = useState<ActionState>({ isDisabled: false })
  const { actionKeys: keys } = useSession()
  const unmounted = useRef(new AbortController()).current
  useEffect(() => () => unmounted.abort(), [])
  /**
   * @param what the action's name. While its outcome is unknown, a repetition under the same name has
   * the same Idempotency-Key, so that the service does it once
   */
  const run = async (work: Work, what = ''): Promise<void> => {
    const name = `${subject} ${what}`
    const key = keys.get(name) ?? newIdempotencyKey()
    setState({ isDisabled: true })
    try {
      const done = await work(key, unmounted.signal)
      keys.delete(name)
      setState({ isDisabled: false, done })
      if (!unmounted.signal.aborted) onEnd?.()
    } catch (error) {
      // Any other error is thrown by the work, and says what the service answered.
      const { state, text } = isTradeportError(error)
        ? outcomeOfError(error, keys.has(name))
        : { state: 'not_done', text: sentenceOf(error) }
      const isUnknown = state === 'unknown'
      if (isUnknown) keys.set(name, key)
      else keys.delete(name)
      const waitMs = retryAfterMs(error)
      const again = `You may try again${waitMs > 0 ? ` in ${duration(waitMs / 1_000)}` : ''}`
      const failure = isUnknown
        ? `${text} ${again}: it is not done twice, unless this page is reloaded meanwhile.`
        : waitMs > 0
          ? `${text} ${again}.`
          : text
      setState({ isDisabled: true, failure })
      if (!unmounted.signal.aborted) onEnd?.()
      await sleep(waitMs, unmounted.signal)
      setState({ isDisabled: false, failure })
    }
  }
  return { ...state, isRunning: state.isDisabled && state.failure === undefined, run }
}

export const ActionMessage = ({
  action: { done, failure },
}: {
  action: ReturnType<typeof useAction>
}) => (
  <>
    {done && (
      <p class="notice done" role="status">
        {done}
      </p>
    )}
    {failure && <Notice kind="warning">{failure}</Notice>}
  </>
)
