// A sandbox with a clock that a test moves, and short ways to call its
// routes.
import { onTestFinished } from 'vitest'
import {
  startSandbox,
  type AccountOptions,
  type Sandbox,
  type SandboxOptions,
} from '../src/index.ts'

export const NOON = Date.parse('2026-03-11T12:00:00.000Z')
export const EVER = '1970-01-01T00:00:00.000Z/2100-01-01T00:00:00.000Z'

type Answer<A> = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: A
}

export type Bench = {
  readonly sandbox: Sandbox
  readonly clock: { now: number }
  readonly get: <A>(path: string, headers?: Record<string, string>) => Promise<Answer<A>>
  readonly post: <A>(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer<A>>
}

export const setUp = async (
  account: Omit<AccountOptions, 'id'> = {},
  options: SandboxOptions = {},
): Promise<Bench> => {
  const clock = { now: NOON }
  const sandbox = await startSandbox({
    accounts: [{ id: 'acc', ...account }],
    now: () => clock.now,
    ...options,
  })
  onTestFinished(() => sandbox.close())
  return { sandbox, clock, ...callers(sandbox) }
}

const callers = (sandbox: Sandbox): Pick<Bench, 'get' | 'post'> => {
  const call = async <A>(path: string, init: RequestInit): Promise<Answer<A>> => {
    const url = path.startsWith('/')
      ? sandbox.url + path
      : `${sandbox.url}/users/current/accounts/acc/${path}`
    const response = await fetch(url, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: readJson(text) as A }
  }
  return {
    get: (path, headers = {}) =>
      call(path, { headers: { 'auth-token': 'sandbox-token', ...headers } }),
    post: (path, body, headers = {}) =>
      call(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'auth-token': 'sandbox-token', 'content-type': 'application/json', ...headers },
      }),
  }
}

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
