// How a symbol is written on an order and wherever orders are filtered or limited by it (decision 21).

const pattern = /^[A-Z0-9._#-]{1,32}$/

export const isOrderSymbol = (text: string): boolean => pattern.test(text)

/** Ends the sentence "symbol takes …". */
export const orderSymbolTakes = 'a symbol in capitals: 1 to 32 of A-Z 0-9 . _ # -'
