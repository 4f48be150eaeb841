// Makes order ids; randomness is not for the pure rooms.
import type { OrderId } from '../orders/order.ts'

export interface OrderIds {
  /**
   * `ord_` and 20 random characters of a-z and 0-9, from which the broker's client id is derived.
   */
  readonly newOrderId: () => OrderId
}
