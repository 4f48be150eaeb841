// Checks what the service depends on and each tenant's provider token: a line for each check, and
// below a bad one what to do.
import { printForPeople, printForPrograms, styled, type CommandContext } from './context.ts'
import { CommandFailure, isNotFound } from './failure.ts'
import { tenantPath } from './lists.ts'

export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  /** What to do; null where there is nothing. */
  readonly action: string | null
}

/** How many tenants are checked at a time: each check is a request to the provider. */
const tenantsAtOnce = 4
const failedCheck = (name: string, error: unknown): Check => {
  if (!(error instanceof CommandFailure)) throw error
  return { name, status: 'fail', message: error.message, action: null }
}
const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export const runDoctor = async (context: CommandContext): Promise<void> => {
  const { api, values } = context
  const found: (Check & { readonly tenant: string | null })[] = []
  const report = (tenant: string | null, checks: readonly Check[]): void => {
    for (const { name, status, message, action } of checks) {
      found.push({ tenant, name, status, message, action })
      const what = tenant === null ? name : `${name} of ${tenant}`
      printForPeople(context, `${styled(styles[status], status.padEnd(4))}  ${what}: ${message}`)
      if (action !== null) printForPeople(context, `      ${action}`)
    }
  }
  const ofService = await api.get<readonly Check[]>('/doctor')
  const message = `It answers at ${api.url}, and accepts the token.`
  report(null, [{ name: 'service', status: 'ok', message, action: null }, ...ofService])
  const tenants: unknown[] = []
  if (values['tenantId'] !== undefined) tenants.push(values['tenantId'])
  // Without the database, which is reported already, the tenants are unknown.
  else if (ofService.every(({ name, status }) => name !== 'database' || status !== 'fail'))
    try {
      for await (const { id } of api.list<{ id: string }>('/tenants')) tenants.push(id)
    } catch (error) {
      report(null, [failedCheck('tenants', error)])
    }
  const checkTenant = (id: string): Promise<readonly Check[]> =>
    api.get<readonly Check[]>(`${tenantPath(id)}/doctor`).catch((error: unknown) => {
      if (!isNotFound(error)) return [failedCheck('tenant', error)]
      if (values['tenantId'] !== undefined) throw error
      // It was removed in the meantime.
      return []
    })
  while (tenants.length > 0) {
    const some = tenants.splice(0, tenantsAtOnce).map(String)
    const checks = await Promise.all(some.map(checkTenant))
    for (const [at, id] of some.entries()) report(id, checks[at] ?? [])
  }
  printForPrograms(context, { checks: found })
  const failed = found.filter(({ status }) => status === 'fail').length
  if (failed > 0)
    throw new CommandFailure('UNHEALTHY', `${failed} of ${found.length} checks failed.`, {
      advice: ['What to do is below each.'],
    })
}
