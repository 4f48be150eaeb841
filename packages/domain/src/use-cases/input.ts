// What a use case is given of a request beside its caller: the parameters of the path by their
// names, the query and the body.
import type { Instant } from '../primitives/instant.ts'

/** `:id` of the path. */
export interface ById {
  readonly id: string
}
/** The parameters of the query. */
export interface WithQuery<Query> {
  readonly query: Query
}
/** The JSON body, as it was read. */
export interface WithBody<Body> {
  readonly body: Body
}

/** Both included. */
export interface DateRange {
  readonly startDate?: Instant | undefined
  readonly endDate?: Instant | undefined
}
