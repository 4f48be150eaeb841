// Limits over two instances: each counts what the other let through, and one whose Redis cannot be reached goes on by itself.
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from './support/order-desk.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { linkDocument } from './support/trading-user.ts'

const redisUrl = process.env['TEST_REDIS_URL']
const title = redisUrl === undefined ? ' (TEST_REDIS_URL not set)' : ''

/** A user whom no server has counted before: limits in Redis are kept by the credential's id, and it may remember those of an earlier run. */
const newUser = () => {
  const user = `limited-${randomUUID()}`
  const [key, token] = [`tp_live_only_for_automated_tests_${user}`, `token-${user}`]
  return {
    user,
    withKey: { 'X-API-Key': key },
    withToken: { Authorization: `Bearer ${token}` },
    document: {
      ...linkDocument({ tenant: 'acme', user, key, providerToken }, []),
      accessTokens: [{ id: `${user}-token`, userId: user, applicationId: 'app-1', token, scopes: ['trading:read'] }],
    },
  }
}

const running: RunningService[] = []
afterEach(async () => {
  for (const service of running.splice(0)) await service.close()
})

const start = async (url: string, document: object, logged: Json[]): Promise<RunningService> => {
  const service = await startTestService([], {
    environment: { REDIS_URL: url, LOG_LEVEL: 'info' },
    onLogLine: (line) => logged.push(JSON.parse(line)),
  })
  running.push(service)
  await service.setUp(document)
  return service
}

const exportsFrom = async ({ apiUrl }: RunningService, count: number, headers: Record<string, string>): Promise<readonly string[]> => {
  const replies: string[] = []
  for (let asked = 0; asked < count; asked += 1) {
    const reply = await request(`${apiUrl}/api/v1/trades/export`, { headers })
    replies.push(`${reply.status} ${reply.headers.get('X-RateLimit-Remaining')} ${reply.body?.error?.details.scope ?? ''}`.trim())
  }
  return replies
}

describe.skipIf(redisUrl === undefined)(`two instances on one Redis${title}`, () => {
  // Again where the machine was so busy that Redis did not answer in time: the instances then count alone for a moment, as they should.
  it('count together, keys and tokens apart, and tell of a suspension once', { retry: 3 }, async () => {
    const logged: Json[] = []
    const { user, withKey, withToken, document } = newUser()
    const [one, other] = [await start(redisUrl ?? '', document, logged), await start(redisUrl ?? '', document, logged)]
    expect(await exportsFrom(one, 4, withKey)).toEqual(['200 9', '200 8', '200 7', '200 6'])
    expect(await exportsFrom(other, 8, withKey)).toEqual([
      '200 5',
      '200 4',
      '200 3',
      '200 2',
      '200 1',
      '200 0',
      '429 0 endpoint',
      '429 0 endpoint',
    ])
    expect(await exportsFrom(one, 1, withToken)).toEqual(['200 9'])
    expect(await exportsFrom(other, 1, withToken)).toEqual(['200 8'])
    await exportsFrom(one, 4, withKey)
    await exportsFrom(other, 3, withKey)
    expect(await exportsFrom(one, 1, withKey)).toEqual(['429 0 suspension'])
    expect(await exportsFrom(other, 1, withKey)).toEqual(['429 0 suspension'])
    const mails = await eventually(
      () => logged.filter(({ event, subject }) => event === 'owner_mail' && subject.includes(`${user}-key `)),
      (found) => found.length > 0,
    )
    expect(mails).toHaveLength(1)
  })
})

describe('an instance whose Redis cannot be reached', () => {
  it('limits by itself and says so, without the password', async () => {
    const logged: Json[] = []
    const { withKey, document } = newUser()
    const service = await start('redis://:hush-hush@127.0.0.1:1', document, logged)
    const replies = await exportsFrom(service, 11, withKey)
    expect(replies).toEqual([...Array.from({ length: 10 }, (_, n) => `200 ${9 - n}`), '429 0 endpoint'])
    expect(logged.filter(({ msg }) => msg?.includes('limits by itself'))).toHaveLength(1)
    expect(JSON.stringify(logged)).not.toContain('hush-hush')
  })
})
