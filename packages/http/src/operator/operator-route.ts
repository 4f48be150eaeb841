// A route of the operator API, which has no document: its record tells what it does, and no more.
import type { Refusal } from '@tradeport/domain'
import type { Access } from '../access/doors.ts'
import { errorTable } from '../replies/error-table.ts'
import { openRoute } from '../routing/route.ts'
import type { OpenRouteRecord, Route } from '../routing/route.ts'
import type { RefusalTag } from '../routing/route-refusals.ts'

type Documented = 'operationId' | 'description' | 'access' | 'refusals' | 'reply'

const access: Access = { kind: 'operator' }
const undocumented = {
  operationId: '',
  description: '',
  refusals: Object.keys(errorTable) as RefusalTag[],
  reply: { kind: 'none' },
} as const

export const operatorRoute = <U, P, Q, H, B, R>(
  record: Omit<OpenRouteRecord<U, P, Q, H, B, R, object, RefusalTag, Refusal, never>, Documented>,
): Route<U> => openRoute({ ...undocumented, access, ...record })
