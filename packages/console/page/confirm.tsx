// A dialog that asks before something is done.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

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
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={({ currentTarget }) => {
        onClose()
        if (currentTarget.returnValue === 'confirmed') onConfirm?.()
      }}
    >
      <h2>{title}</h2>
      <form method="dialog">
        {children}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {back}
          </button>
          {verb && (
            <button type="submit" class="primary" value="confirmed">
              {verb}
            </button>
          )}
        </div>
      </form>
    </dialog>
  )
}
