// A PostgreSQL and a Redis server of the run's own, from the installed programs, each on a port of
// its own: stopped and started as the run likes, and gone with it.
import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chmod, chown, mkdir, readFile } from 'node:fs/promises'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Run } from './run.ts'

export interface OwnServer {
  readonly url: string
  /** Resolves once it has ended. */
  readonly stop: (mode: StopMode) => Promise<void>
  /** Resolves once it takes connections. */
  readonly start: () => Promise<void>
}

/** `fast` ends what is under way, `immediate` leaves everything as it is. */
export type StopMode = 'fast' | 'immediate'

const run = promisify(execFile)
// Some shells leave out the folder of runuser.
const environment = {
  ...process.env,
  PATH: `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`,
}
const isRoot = process.getuid?.() === 0

/** PostgreSQL's server programs refuse to run as root. */
const asPostgres = (program: string, args: readonly string[]): readonly [string, string[]] =>
  isRoot ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, [...args]]

/** @throws with a sentence where no server programs are installed */
export const startOwnPostgres = async ({ folder, closeLater }: Run): Promise<OwnServer> => {
  const programs = postgresPrograms()
  const port = await freePort()
  const data = join(folder, 'postgres')
  await mkdir(data, { mode: 0o700 })
  if (isRoot) {
    // The folder around it is root's, and must be passed through.
    await chmod(folder, 0o711)
    await chown(data, await idOfPostgres(), -1)
  }
  const call = async (program: string, ...args: readonly string[]): Promise<void> => {
    const [file, all] = asPostgres(join(programs, program), args)
    await run(file, all, { cwd: '/', env: environment })
  }
  await call(
    'initdb',
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  )
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`
  const start = (): Promise<void> =>
    call('pg_ctl', '-D', data, '-l', join(data, 'server.log'), '-w', '-s', '-o', options, 'start')
  const stop = (mode: StopMode): Promise<void> =>
    call('pg_ctl', '-D', data, '-m', mode, '-w', '-s', 'stop')
  await start()
  closeLater(() => stop('immediate').catch(() => undefined))
  // Whatever ends the run ends the server.
  process.once('exit', () => {
    if (!existsSync(join(data, 'postmaster.pid'))) return
    const [file, all] = asPostgres(join(programs, 'pg_ctl'), [
      '-D',
      data,
      '-m',
      'immediate',
      '-w',
      '-s',
      'stop',
    ])
    execFileSync(file, all, { cwd: '/', env: environment, stdio: 'ignore' })
  })
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, start, stop }
}

const postgresPrograms = (): string => {
  const [newest] = globSync('/usr/lib/postgresql/*/bin')
    .filter((folder) => existsSync(join(folder, 'initdb')))
    .toSorted((one, other) => versionOf(other) - versionOf(one))
  const elsewhere = (environment.PATH ?? '')
    .split(':')
    .find((folder) => existsSync(join(folder, 'initdb')))
  const found = newest ?? elsewhere
  if (found === undefined)
    throw new Error(
      'This run starts a PostgreSQL server of its own, and no server programs are installed (Debian: apt-get install postgresql).',
    )
  return found
}

const versionOf = (folder: string): number => Number(folder.split('/').at(-2))

const idOfPostgres = async (): Promise<number> => {
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((one) => one.startsWith('postgres:'))
  if (line === undefined)
    throw new Error('PostgreSQL does not run as root, and this machine has no user postgres.')
  return Number(line.split(':')[2])
}

export interface OwnRedis extends OwnServer {
  /** It keeps its connections and answers nothing until it is thawed. */
  readonly freeze: () => void
  readonly thaw: () => void
}

/** With nothing kept on disk: what it held is gone when it stops. */
export const startOwnRedis = async ({ folder, closeLater }: Run): Promise<OwnRedis> => {
  const port = await freePort()
  let child: ChildProcess | undefined
  const stop = async (mode: StopMode): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(mode === 'fast' ? 'SIGTERM' : 'SIGKILL')
    await exited
  }
  const start = async (): Promise<void> => {
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
    ]
    const started = spawn('redis-server', args, { stdio: 'ignore', env: environment })
    child = started
    const failed = new Promise<never>((_, reject) =>
      started.once('error', () =>
        reject(
          new Error(
            'This run starts a Redis of its own, and redis-server is not installed (Debian: apt-get install redis-server).',
          ),
        ),
      ),
    )
    failed.catch(() => undefined)
    await Promise.race([failed, takingConnections(port)])
  }
  process.once('exit', () => child?.kill('SIGKILL'))
  closeLater(() => stop('immediate'))
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    stop,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  }
}

const takingConnections = async (port: number): Promise<void> => {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isTaken = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isTaken) return
    await pause(20)
  }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
