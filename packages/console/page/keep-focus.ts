// Keeps the keyboard's place on the page: what was disabled for a while gets the focus back, and
// where what had it vanishes, the nearest heading gets it.

export const keepFocus = (): void => {
  /** What has the focus, or lost it to nothing, and what it is within. */
  let place: readonly HTMLElement[] = []
  document.addEventListener('focusin', (event) => {
    place = event.composedPath().filter((one) => one instanceof HTMLElement)
  })
  document.addEventListener('focusout', ({ target }) => {
    // Left by the reader; what vanishes is still there while this event is handled.
    queueMicrotask(() => {
      if (target === place[0] && canFocus(place[0])) place = []
    })
  })
  new MutationObserver(() => {
    const [focused] = place
    if (focused === undefined || document.activeElement !== document.body) return
    if (focused.isConnected) {
      if (canFocus(focused)) focused.focus({ preventScroll: true })
      return
    }
    const around = place.find((one) => one.isConnected) ?? document.body
    const heading = around.querySelector<HTMLElement>('h1, h2, h3') ?? around
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
  }).observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled'],
  })
}

const canFocus = (element: HTMLElement | undefined): boolean =>
  element?.isConnected === true && !element.matches(':disabled')
