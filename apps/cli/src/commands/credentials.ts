// Making and revoking keys and tokens. A key is told once, when it is made, and by nothing else.
import { randomBytes } from 'node:crypto'
import { CommandFailure } from '../failure.ts'
import type { CommonOptions } from '../session.ts'
import type { World } from '../world.ts'
import { changeRecord, tellChange } from './change.ts'
import type { Change } from './change.ts'

export interface MakeKeyOptions extends CommonOptions {
  readonly user: string
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly scope?: readonly string[] | undefined
  readonly allow?: readonly string[] | undefined
  readonly expires?: string | undefined
}

export const makeKey = async (world: World, options: MakeKeyOptions): Promise<void> => {
  const id = options.id ?? `key-${randomBytes(6).toString('hex')}`
  const { user: userId, name, scope: scopes, allow: ipAllowlist, expires: expiresAt } = options
  const { session, done } = await changeRecord(
    world,
    {
      section: 'apiKeys',
      entry: { id, userId, name, scopes, ipAllowlist, expiresAt },
      record: 'new',
      noun: `a key ${id}`,
      listedBy: 'keys list',
      optionOf: { id: '--id', userId: '--user', name: '--name', scopes: '--scope', ipAllowlist: '--allow', expiresAt: '--expires' },
      whenLost: `If the key ${id} was made, nobody will ever see it: pnpm operator keys revoke ${id}, and make another.`,
    },
    options,
  )
  const [made] = done.apiKeys
  // Somebody else made a key of this id between the two requests.
  if (made === undefined)
    throw new CommandFailure(
      `The key ${id} was there already when this was asked for: its settings are now those that you named, and no key was made.`,
      {
        code: 'ALREADY_THERE',
        advice: [`pnpm operator keys revoke ${id} revokes it. Give another id, or none to have one made.`],
      },
    )
  session.json(done)
  session.say(`The key ${id} of ${userId} is made. This is the only time that it is shown:\n\n  ${made.key}\n`)
}

export const revokeKey = (world: World, id: string, options: CommonOptions): Promise<void> =>
  tellChange(world, revocation('apiKeys', id, { noun: `the key ${id}`, listedBy: 'keys list' }), options)

export const revokeToken = (world: World, id: string, options: CommonOptions): Promise<void> =>
  tellChange(world, revocation('accessTokens', id, { noun: `the token ${id}`, listedBy: 'tokens list' }), options)

const revocation = (section: string, id: string, words: Pick<Change, 'noun' | 'listedBy'>): Change => ({
  section,
  entry: { id, enabled: false },
  record: 'there',
  ...words,
  whenLost: 'Call again: revoking what is revoked does no harm.',
})
