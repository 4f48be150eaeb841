// The provider's volumes, which may carry what binary fractions leave of a sum.

/** To eight decimals, which is as fine as platforms know lots; what is less than that is none. */
export const readLots = (told: number): number => Math.round(told * lotUnits) / lotUnits

const lotUnits = 1e8
