// How a symbol is written on an order and wherever orders are filtered or limited by it (decision 21).

const longest = 32
const pattern = new RegExp(`^[A-Z0-9._#-]{1,${longest}}$`)

export const isOrderSymbol = (text: string): boolean => pattern.test(text)

/** The same for programs. */
export const orderSymbolBounds = { minLength: 1, maxLength: longest, pattern: pattern.source }

/** Ends the sentence "symbol takes …". */
export const orderSymbolTakes = `a symbol in capitals: 1 to ${longest} of A-Z 0-9 . _ # -`
