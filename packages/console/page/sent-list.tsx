// What the reader sent, with what is known of it; on every page.
import { useEffect, useState } from 'preact/hooks'
import { Section } from './parts.tsx'
import { isOpen, type Sent, type SentWrite } from './sent.ts'

const stateWords: Readonly<Record<SentWrite['state'], string>> = {
  under_way: 'Under way',
  done: 'Done',
  partial: 'In part',
  not_done: 'Not done',
  unknown: 'Unknown',
}

export const useSent = (sent: Sent): readonly SentWrite[] => {
  const [list, setList] = useState(sent.list())
  useEffect(() => sent.subscribe(() => setList(sent.list())), [sent])
  return list
}

export const SentList = ({ sent }: { sent: Sent }) => {
  const writes = useSent(sent)
  const { dismiss } = sent
  const known = writes.filter((write) => !isOpen(write))
  const hasOpen = known.length < writes.length
  // A browser may end a request with its page, and the list would be gone.
  useEffect(() => {
    if (!hasOpen) return undefined
    const warn = (event: Event): void => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [hasOpen])
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
                  {hasOpen ? 'Clear what is known' : 'Clear the list'}
                </button>
              )
            }
          >
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
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
                      {sendAgain !== undefined && (
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
