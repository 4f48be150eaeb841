// What the probes of a running service say, and that whoever asks may ask without end: alone, and of two instances that lose their servers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './support/order-desk.ts'
import { request, startTestInstances, startTestService } from './support/running-service.ts'
import type { Reply, RunningInstances, RunningService } from './support/running-service.ts'
import { areServersThere, serversTitle } from './support/two-instances.ts'
import type { Instance } from './support/two-instances.ts'

const told = ({ status, body }: Reply): object => ({ status, ...body })
const listenersOf = ({ apiUrl, operatorUrl }: Instance): readonly string[] => [apiUrl, operatorUrl]
const isShared = (said: object): boolean => 'limiter' in said && said.limiter === 'shared' && isStatus(200)(said)
const isStatus =
  (status: number) =>
  (said: object): boolean =>
    'status' in said && said.status === status
const ready = (limiter: string): object => ({ status: 200, ready: true, failing: [], limiter })

describe('an instance alone', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startTestService([])
  })
  afterAll(() => service?.close())

  it('lives and is ready, on both listeners, for whoever asks', async () => {
    for (const url of listenersOf(service)) {
      expect(told(await request(`${url}/healthz`))).toEqual({ status: 200, alive: true })
      expect(told(await request(`${url}/readyz`))).toEqual(ready('in-process'))
    }
  })

  it('counts them against nothing, and tells the same to a bad credential', async () => {
    const replies = await Promise.all(
      Array.from({ length: 500 }, () => request(`${service.apiUrl}/readyz`, { headers: { 'X-API-Key': 'tp_live_unknown' } })),
    )
    for (const reply of replies) {
      expect(told(reply)).toEqual(ready('in-process'))
      expect(reply.headers.has('X-RateLimit-Limit')).toBe(false)
    }
  })
})

describe.skipIf(!areServersThere)(`an instance on servers${serversTitle}`, () => {
  let service: RunningInstances
  beforeAll(async () => {
    service = await startTestInstances([], { redis: { boundMs: 500 } })
  })
  afterAll(() => service?.close())

  const readiness = async (isAsItShould: (said: object) => boolean): Promise<readonly object[]> => {
    const urls = service.instances.flatMap(listenersOf)
    return Promise.all(urls.map((url) => eventually(async () => told(await request(`${url}/readyz`)), isAsItShould, 30_000)))
  }

  it('says that it limits alone, and is ready all the same', async () => {
    expect(await readiness(isShared)).toEqual(Array.from({ length: 4 }, () => ready('shared')))
    await service.redis.cut()
    expect(await readiness((said) => 'limiter' in said && said.limiter === 'alone')).toEqual(
      Array.from({ length: 4 }, () => ready('alone')),
    )
    await service.redis.mend()
    expect(await readiness(isShared)).toEqual(Array.from({ length: 4 }, () => ready('shared')))
  })

  it('is not ready while its database is away, and lives', async () => {
    await service.database.cut()
    for (const said of await readiness(isStatus(503)))
      expect(said).toMatchObject({ status: 503, ready: false, failing: expect.arrayContaining(['database']) })
    for (const url of service.instances.flatMap(listenersOf)) expect((await request(`${url}/healthz`)).status).toBe(200)
    await service.database.mend()
    expect(await readiness(isShared)).toEqual(Array.from({ length: 4 }, () => ready('shared')))
  })

  it('is not ready on tables older than it needs, and is on newer ones', async () => {
    const [newest] = await service.database.query('select name from knex_migrations order by id desc limit 1')
    const { name } = newest as { readonly name: string }
    await service.database.query(`update knex_migrations set name = 'older' where name = '${name}'`)
    for (const said of await readiness(isStatus(503))) expect(said).toMatchObject({ failing: ['migrations'] })
    await service.database.query(`update knex_migrations set name = '${name}' where name = 'older'`)
    await service.database.query(`insert into knex_migrations (name, batch, migration_time) values ('9999-of-a-newer-version', 99, now())`)
    expect(await readiness(isShared)).toEqual(Array.from({ length: 4 }, () => ready('shared')))
  })
})
