// GET /operator/v1/doctor and /operator/v1/tenants/:tenantId/doctor: what works, what does not, and what to do.
import type { HealthCheck } from '@tradeport/domain'
import type { Route } from '../routing/route.ts'
import type { OperatorUseCases } from '../use-cases.ts'
import { operatorRoute } from './operator-route.ts'
import { tenantId } from './record-routes.ts'

const presentCheck = ({ name, status, message, action }: HealthCheck): object => ({ name, status, message, action })

export const doctorRoutes: readonly Route<OperatorUseCases>[] = [
  operatorRoute({
    method: 'GET',
    path: '/doctor',
    summary: 'The state of what the service depends on: database, tables, durability, clocks, limits and sealed secrets.',
    useCase: (useCases: OperatorUseCases) => useCases.checkService,
    present: (checks) => ({ kind: 'data', data: checks.map(presentCheck) }),
  }),
  operatorRoute({
    method: 'GET',
    path: '/tenants/:tenantId/doctor',
    summary: "Whether the provider takes the tenant's token.",
    params: { tenantId },
    useCase: (useCases: OperatorUseCases, { params }) => useCases.checkTenant(params.tenantId),
    present: (checks) => ({ kind: 'data', data: checks.map(presentCheck) }),
  }),
]
