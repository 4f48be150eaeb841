// Lots as platforms know them, of orders that open and of positions that close.

/**
 * To eight decimals. Finer than that is what binary fractions leave, of a caller's sum or of a broker's, and would make a whole look like a part
 * of itself.
 */
export const roundLots = (volume: number): number => Math.round(volume * lotUnits) / lotUnits

/** Lots to be sent. Less than any platform knows is sent as it is, for the broker to refuse. */
export const lotsToSend = (volume: number): number => roundLots(volume) || volume

const lotUnits = 1e8
