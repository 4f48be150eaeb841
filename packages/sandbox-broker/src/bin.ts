// The sandbox as a command, to run by hand or with a program under test.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { AccountOptions } from './options.ts'
import type { HistoryFile } from './rows.ts'
import { startSandbox } from './sandbox.ts'

const help = `tradeport-sandbox: a simulated provider on the provider's own REST

  --port <n>        port to listen on (default: a free one)
  --token <text>    token to accept (default sandbox-token)
  --account <id>    id of an account; once for each (default demo)
  --history <file>  a history in the provider's shape for the account at the same place; others get a generated one
  --help
`

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      token: { type: 'string' },
      account: { type: 'string', multiple: true },
      history: { type: 'string', multiple: true },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) return void process.stdout.write(help)
  const histories = values.history ?? []
  const ids = values.account ?? ['demo']
  if (histories.length > ids.length) throw new Error('There are more histories than accounts')
  const accounts = ids.map((id, index): AccountOptions => {
    const history = histories[index]
    if (history !== undefined)
      return { id, history: JSON.parse(readFileSync(history, 'utf8')) as HistoryFile }
    return { id, generate: { trades: 300, openPositions: 5 } }
  })
  const token = values.token ?? 'sandbox-token'
  const sandbox = await startSandbox({
    accounts,
    tokens: [token],
    port: portOf(values.port ?? '0'),
  })
  process.stdout.write(`url      ${sandbox.url}\ntoken    ${token}\naccounts ${ids.join(' ')}\n\n`)
  process.stdout.write(
    `curl -H 'auth-token: ${token}' ${sandbox.url}/users/current/accounts/${encodeURIComponent(ids[0] ?? '')}/positions\n`,
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void sandbox.close())
}

const portOf = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw new Error(`--port must be a whole number; got ${text}`)
  return Number(text)
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
