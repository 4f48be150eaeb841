// The sandbox as a command, to run by hand or beside a program under test.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { AccountOptions } from './options.ts'
import type { HistoryFile } from './rows.ts'
import { startSandbox } from './sandbox.ts'

const HELP = `tradeport-sandbox: a simulated provider on the provider's own REST

  --port <n>        port to listen on (default: a free one)
  --host <address>  address to listen on (default 127.0.0.1)
  --seed <n>        everything made up follows from it (default 1)
  --token <text>    token to ask for (default sandbox-token)
  --account <id>    id of an account; once for each (default demo)
  --history <file>  a history in the provider's shape for the account of the same place; others get a made-up one
  --netting         accounts net their positions
  --mt4             accounts are of the fourth generation
  --state <file>    keep the state in this file
  --help
`

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      seed: { type: 'string' },
      token: { type: 'string' },
      account: { type: 'string', multiple: true },
      history: { type: 'string', multiple: true },
      netting: { type: 'boolean' },
      mt4: { type: 'boolean' },
      state: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) return void process.stdout.write(HELP)
  const histories = values.history ?? []
  const ids = values.account ?? ['demo']
  if (histories.length > ids.length) throw new Error('There are more histories than accounts')
  const accounts = ids.map((id, index): AccountOptions => {
    const history = histories[index]
    if (history !== undefined) return { id, history: JSON.parse(readFileSync(history, 'utf8')) as HistoryFile }
    return {
      id,
      platform: values.mt4 === true ? 'mt4' : 'mt5',
      marginMode: values.netting === true ? 'netting' : 'hedging',
      generate: { trades: 300, openPositions: 5 },
    }
  })
  const token = values.token ?? 'sandbox-token'
  const sandbox = await startSandbox({
    accounts,
    tokens: [token],
    seed: wholeNumber('seed', values.seed ?? '1'),
    port: wholeNumber('port', values.port ?? '0'),
    ...(values.host !== undefined && { host: values.host }),
    ...(values.state !== undefined && { stateFile: values.state }),
  })
  process.stdout.write(`url      ${sandbox.url}\ntoken    ${token}\naccounts ${ids.join(' ')}\n\n`)
  process.stdout.write(
    `curl -H 'auth-token: ${token}' ${sandbox.url}/users/current/accounts/${encodeURIComponent(ids[0] ?? '')}/positions\n`,
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close())
}

const wholeNumber = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not ${text}`)
  return Number(text)
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
