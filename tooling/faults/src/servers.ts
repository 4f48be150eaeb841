// A PostgreSQL server of the run's own, from the installed programs, on a free port: stopped and
// started as the run likes, and gone with it.
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Run } from './run.ts'

export interface OwnServer {
  readonly url: string
  /** `fast` ends what is in progress, `immediate` leaves everything as it is. */
  readonly stop: (mode: 'fast' | 'immediate') => Promise<void>
  /** Resolves once it accepts connections. */
  readonly start: () => Promise<void>
}

// Some shells leave out the folder of runuser.
const env = {
  ...process.env,
  PATH: `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`,
}
const isRoot = process.getuid?.() === 0

/** @throws with a sentence where no server programs are installed */
export const startOwnPostgres = async ({ folder, closeLater }: Run): Promise<OwnServer> => {
  const programs = globSync('/usr/lib/postgresql/*/bin')
    .concat(env.PATH.split(':'))
    .find((path) => existsSync(join(path, 'initdb')))
  if (programs === undefined)
    throw new Error(
      'This run starts a PostgreSQL server of its own, and no server programs are installed (Debian: apt-get install postgresql).',
    )
  const port = await freePort()
  const data = join(folder, 'postgres')
  await mkdir(data, { mode: 0o700 })
  // PostgreSQL's server programs refuse to run as root.
  const command = (program: string, parameters: readonly string[]): [string, string[]] => {
    const all = ['-D', data, ...parameters]
    const path = join(programs, program)
    return isRoot ? ['runuser', ['-u', 'postgres', '--', path, ...all]] : [path, all]
  }
  const call = async (program: string, ...parameters: readonly string[]): Promise<void> => {
    await promisify(execFile)(...command(program, parameters), { cwd: '/', env })
  }
  if (isRoot) {
    // The folder around it is root's, and must be passed through.
    await chmod(folder, 0o711)
    execFileSync('chown', ['postgres', data])
  }
  await call('initdb', ...'-U postgres -A trust -E UTF8 --locale=C --no-sync'.split(' '))
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`
  const start = (): Promise<void> =>
    call('pg_ctl', '-l', join(data, 'server.log'), '-w', '-s', '-o', options, 'start')
  const stop: OwnServer['stop'] = (mode) => call('pg_ctl', '-m', mode, '-w', '-s', 'stop')
  // Whatever ends the run ends the server.
  process.once('exit', () => {
    if (!existsSync(join(data, 'postmaster.pid'))) return
    const stopNow = command('pg_ctl', ['-m', 'immediate', '-w', '-s', 'stop'])
    execFileSync(...stopNow, { cwd: '/', env, stdio: 'ignore' })
  })
  closeLater(() => stop('immediate').catch(() => undefined))
  await start()
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, start, stop }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
