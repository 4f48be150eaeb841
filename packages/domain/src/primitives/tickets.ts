// Brokers' numbers, which are text: of positions, orders and deals.

/**
 * The order of brokers' numbers written as text, whatever their length: the shorter first, then by
 * text.
 */
export const compareTickets = (a: string, b: string): number => {
  if (a.length !== b.length) return a.length - b.length
  if (a === b) return 0
  return a < b ? -1 : 1
}
