// Gives the focus back to a button that was disabled while its action ran. Otherwise a user who
// uses the keyboard would begin at the top of the page.

export const keepFocus = (): void => {
  let button: HTMLButtonElement | undefined
  document.addEventListener('focusin', ({ target }) => {
    button = target instanceof HTMLButtonElement ? target : undefined
  })
  // A user who points elsewhere does not want it back.
  document.addEventListener('pointerdown', () => {
    button = undefined
  })
  new MutationObserver(() => {
    if (document.activeElement === document.body && button?.disabled === false)
      button.focus({ preventScroll: true })
  }).observe(document.body, { subtree: true, attributeFilter: ['disabled'] })
}
