// What the reader sent, with what is known of it; on every page.
import { useSent, type Sent, type SentWrite } from './sent.ts'
import { Section } from './parts.tsx'

const stateWords: Readonly<Record<SentWrite['state'], string>> = {
  under_way: 'Under way',
  done: 'Done',
  refused: 'Refused',
  unknown: 'Unknown',
}

export const SentList = ({ sent }: { sent: Sent }) => {
  const writes = useSent(sent)
  const { dismiss } = sent
  const open = writes.filter(({ state }) => state === 'under_way' || state === 'unknown')
  const known = writes.filter(({ state }) => state === 'done' || state === 'refused')
  return (
    <>
      {/* Exists before there is something to say, so that it is said. */}
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
                  {open.length === 0 ? 'Clear the list' : 'Clear what is known'}
                </button>
              )
            }
          >
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
            <ul tabIndex={0}>
              {writes.map(({ id, words, state, text, askAgain }) => (
                <li key={id} class={state}>
                  <span class="state">{stateWords[state]}</span>
                  <span>
                    <strong>{words}</strong>
                    <br />
                    {text}
                  </span>
                  {state === 'unknown' && (
                    <span class="buttons">
                      {askAgain !== undefined && (
                        <button
                          type="button"
                          title="With the same key: it is done once at most."
                          onClick={askAgain}
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
