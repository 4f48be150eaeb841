// A PostgreSQL server of the run's own, from the installed programs, on a free port: stopped and
// started as the run likes, and gone with it.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newFolder } from '@tradeport/harness'
import { freePort } from '@tradeport/testkit'

const isRoot = process.getuid?.() === 0
const idOf = (kind: '-u' | '-g'): number => Number(execFileSync('id', [kind, 'postgres']))

/** @throws with a sentence where no server programs are installed */
export const startOwnPostgres = async (stack: AsyncDisposableStack) => {
  const programs = globSync('/usr/lib/postgresql/*/bin')
    .concat((process.env['PATH'] ?? '').split(':'))
    .find((path) => existsSync(join(path, 'initdb')))
  if (programs === undefined)
    throw new Error(
      'This run starts a PostgreSQL server of its own, and no server programs are installed (Debian: apt-get install postgresql).',
    )
  const port = await freePort()
  const folder = await newFolder(stack)
  const data = join(folder, 'postgres')
  await mkdir(data, { mode: 0o700 })
  if (isRoot) {
    // The folder around it is root's, and must be passed through.
    await chmod(folder, 0o711)
    execFileSync('chown', ['postgres', data])
  }
  // PostgreSQL's server programs refuse to run as root.
  const options = { cwd: '/', ...(isRoot && { uid: idOf('-u'), gid: idOf('-g') }) }
  const call = async (program: string, ...parameters: readonly string[]): Promise<void> => {
    await promisify(execFile)(join(programs, program), ['-D', data, ...parameters], options)
  }
  await call('initdb', ...'-U postgres -A trust -E UTF8 --locale=C --no-sync'.split(' '))
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`
  /** Resolves once it accepts connections. */
  const start = () =>
    call('pg_ctl', '-l', join(data, 'server.log'), '-w', '-s', '-o', settings, 'start')
  /** `fast` ends what is in progress, `immediate` leaves everything as it is. */
  const stop = (mode: 'fast' | 'immediate') => call('pg_ctl', '-m', mode, '-w', '-s', 'stop')
  // Whatever ends the run ends the server.
  process.once('exit', () => {
    const stopNow = ['-D', data, '-m', 'immediate', '-w', '-s', 'stop']
    if (existsSync(join(data, 'postmaster.pid')))
      execFileSync(join(programs, 'pg_ctl'), stopNow, { ...options, stdio: 'ignore' })
  })
  stack.defer(() => stop('immediate').catch(() => undefined))
  await start()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const run = (statement: string) =>
    promisify(execFile)(join(programs, 'psql'), ['-c', statement, url])
  return { url, start, stop, run }
}
