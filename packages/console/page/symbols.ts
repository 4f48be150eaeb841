// Which symbol of the broker the service finds by a name.

/**
 * The one that the service finds for a symbol, by the domain's `resolveSymbol`; undefined where there
 * is none or several.
 */
export const instrumentFor = <A extends { readonly symbol: string }>(
  wanted: string,
  all: readonly A[],
): A | undefined => {
  const name = wanted.toUpperCase()
  // US30 must not find US300, nor MET Meta.
  const fitting = all.filter(({ symbol }) => {
    const rest = symbol.slice(name.length)
    return /^[a-z]+$/.test(rest)
      ? symbol.startsWith(name)
      : /^([^A-Za-z\d].*)?$/.test(rest) && symbol.toUpperCase().startsWith(name)
  })
  const sameLetters = fitting.filter(({ symbol }) => symbol.length === name.length)
  const possible = sameLetters.length > 0 ? sameLetters : fitting
  return (
    fitting.find(({ symbol }) => symbol === wanted) ??
    (possible.length === 1 ? possible[0] : undefined)
  )
}

/**
 * A failure instead of what was read where that is of another symbol: the service looks symbols up
 * in capitals, and two may differ in nothing else.
 */
export const withoutOthers = <Read>(
  read: Read,
  symbol: string,
  found: { readonly symbol: string } | undefined,
): Read | { readonly failure: string; readonly data?: undefined } =>
  found === undefined || found.symbol === symbol
    ? read
    : { failure: `The prices of ${symbol} cannot be read: its name stands for ${found.symbol}.` }
