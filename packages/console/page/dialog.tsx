// A dialog that asks before something is done.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

/** The button confirms only then, so that the second click of a double click does not hit it. */
const readyAfterMs = 500

/** Escape and the back button close it without confirming. */
export const Dialog = ({
  title,
  verb,
  back = 'Cancel',
  children,
  onConfirm,
  onClose,
}: {
  title: string
  /** What the button that does it says; undefined: there is none. */
  verb?: string
  /** What the button that does nothing says. */
  back?: string
  /** What will happen. */
  children: ComponentChildren
  onConfirm?: () => void
  onClose: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const content = useId()
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    dialog.current?.showModal()
    const timer = setTimeout(() => setReady(true), readyAfterMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      aria-describedby={content}
      onClose={({ currentTarget }) => {
        onClose()
        if (currentTarget.returnValue === 'confirmed') onConfirm?.()
      }}
    >
      {/* It is read from its beginning, however long it is. */}
      <h2 tabIndex={-1} autofocus>
        {title}
      </h2>
      <form method="dialog">
        <div id={content}>{children}</div>
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {back}
          </button>
          {verb && (
            <button type="submit" class="primary" value="confirmed" disabled={!isReady}>
              {verb}
            </button>
          )}
        </div>
      </form>
    </dialog>
  )
}
