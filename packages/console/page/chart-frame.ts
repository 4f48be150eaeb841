// What all charts have in common: colours of the page, and no more interaction than the page needs.
import type { ChartOptions, DeepPartial } from 'lightweight-charts'

/** A custom property of the page's style, by its name. */
export const colourOf =
  (element: HTMLElement) =>
  (name: `--${string}`): string =>
    getComputedStyle(element).getPropertyValue(name).trim()

export const frameOptions = (element: HTMLElement) => {
  const colour = colourOf(element)
  return {
    autoSize: true,
    layout: {
      // The logo writes a style element, which the policy forbids; the page names the library.
      attributionLogo: false,
      background: { color: 'transparent' },
      textColor: colour('--quiet'),
      fontFamily: getComputedStyle(element).fontFamily,
      fontSize: 11,
      panes: { separatorColor: colour('--line'), enableResize: false },
    },
    grid: { vertLines: { visible: false }, horzLines: { color: colour('--line') } },
    rightPriceScale: { borderVisible: false },
    timeScale: { borderVisible: false, timeVisible: true },
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
  } as const satisfies DeepPartial<ChartOptions>
}

/** Draws, and draws anew when the colours of the system change. Returns what removes it. */
export const drawInColours = (draw: () => () => void): (() => void) => {
  let remove = draw()
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = (): void => {
    remove()
    remove = draw()
  }
  scheme.addEventListener('change', redraw)
  return () => {
    scheme.removeEventListener('change', redraw)
    remove()
  }
}
