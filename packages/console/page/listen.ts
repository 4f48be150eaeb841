// Listens to events of the page until the returned function is called.

/** @param act cannot prevent what the browser does: it is passive */
export const listen = (
  target: EventTarget,
  names: readonly string[],
  act: (event: Event) => void,
): (() => void) => {
  const over = new AbortController()
  const options = { signal: over.signal, passive: true }
  for (const name of names) target.addEventListener(name, act, options)
  return () => over.abort()
}
