// The page before anybody is signed in.
import { useEffect, useState } from 'preact/hooks'

export const SignIn = ({
  message,
  isOpening,
  onKey,
}: {
  /** Why the last attempt failed, or why the session ended. */
  message: string | undefined
  isOpening: boolean
  onKey: (key: string, isKept: boolean) => Promise<void>
}) => {
  const [key, setKey] = useState('')
  const [isKept, setIsKept] = useState(false)
  useEffect(() => {
    document.title = 'Sign in – Tradeport console'
  }, [])
  const submit = (event: Event): void => {
    event.preventDefault()
    void onKey(key.trim(), isKept).then(() => setKey(''))
  }
  return (
    <main class="sign-in">
      <h1>Tradeport console</h1>
      <form onSubmit={submit}>
        <label>
          API key
          {/* Browsers offer to store passwords, and one-time codes they do not. */}
          <input
            type="password"
            autocomplete="one-time-code"
            spellcheck={false}
            required
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isKept}
            onChange={({ currentTarget }) => setIsKept(currentTarget.checked)}
          />
          Stay signed in when this tab is reloaded, which otherwise signs you out
        </label>
        <button type="submit" class="primary" disabled={isOpening}>
          {isOpening ? 'Signing in…' : 'Sign in'}
        </button>
        {message && (
          <p class="notice warning" role="alert">
            {message}
          </p>
        )}
      </form>
      <p class="quiet">
        Whoever runs the service gives you a key; the demo prints one when it starts. It is sent to
        this service only. It stays in the memory of this tab, and you are signed out after 30
        minutes without activity.
      </p>
    </main>
  )
}
