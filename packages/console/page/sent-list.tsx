// What the user sent, with what is known of it; on every page.
import { useEffect, useState } from 'preact/hooks'
import { Section } from './parts.tsx'
import { useSession } from './session.ts'
import { isUnresolved, type SentWrite } from './write-tracker.ts'

const stateWords: Readonly<Record<SentWrite['state'], string>> = {
  waiting: 'Waiting',
  under_way: 'Under way',
  done: 'Done',
  partial: 'Partly done',
  not_done: 'Not done',
  unknown: 'Unknown',
}

export const useSentWrites = (): readonly SentWrite[] => {
  const { tracker } = useSession()
  const [list, setList] = useState(tracker.list())
  useEffect(() => {
    // What changed before this subscribed.
    setList(tracker.list())
    return tracker.subscribe(() => setList(tracker.list()))
  }, [tracker])
  return list
}

export const SentList = () => {
  const { dismiss } = useSession().tracker
  const writes = useSentWrites()
  const known = writes.filter((write) => !isUnresolved(write))
  const hasUnresolved = known.length < writes.length
  // A browser may end a request with its page, and only the sentences are kept.
  useEffect(() => {
    if (!hasUnresolved) return undefined
    const warn = (event: Event): void => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [hasUnresolved])
  return (
    <>
      {/* A live region must exist before its text changes, or it is not announced. */}
      <div class="sr-only" role="status" aria-atomic="false">
        {writes.map(({ id, words, state, text }) => (
          <p key={id}>
            {stateWords[state]}: {words}. {text}
          </p>
        ))}
      </div>
      {writes.length > 0 && (
        <div class="sent">
          <Section
            title="What you sent"
            aside={
              known.length > 0 && (
                <button type="button" onClick={() => known.forEach(({ id }) => dismiss(id))}>
                  {hasUnresolved ? 'Clear what is known' : 'Clear the list'}
                </button>
              )
            }
          >
            <ul tabIndex={0}>
              {writes.map(({ id, words, state, text, sendAgain }) => (
                <li key={id} class={state}>
                  <span class="state">{stateWords[state]}</span>
                  <span>
                    <strong>{words}</strong>
                    <br />
                    {text}
                  </span>
                  {state === 'unknown' && (
                    <span class="buttons">
                      {sendAgain && (
                        <button
                          type="button"
                          title="With the same key: it is done once at most."
                          onClick={sendAgain}
                        >
                          Send it again
                        </button>
                      )}
                      <button
                        type="button"
                        title="It may still be done."
                        onClick={() => dismiss(id)}
                      >
                        Stop showing it
                      </button>
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </Section>
        </div>
      )}
    </>
  )
}
