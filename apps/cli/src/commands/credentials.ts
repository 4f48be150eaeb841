// Making and revoking keys and tokens. A key is told once, when it is made, and by nothing else.
import { randomBytes } from 'node:crypto'
import { CommandFailure } from '../failure.ts'
import type { World } from '../world.ts'
import { changeRecord, tellChange } from './change.ts'
import type { Change, ChangeOptions } from './change.ts'

const keyFields = {
  id: 'id',
  userId: 'user',
  name: 'name',
  scopes: 'scope',
  ipAllowlist: 'allow',
  expiresAt: 'expires',
}

export const makeKey = async (world: World, options: ChangeOptions): Promise<void> => {
  const id = options.id ?? `key-${randomBytes(6).toString('hex')}`
  const { session, done } = await changeRecord(
    world,
    {
      section: 'apiKeys',
      key: { id },
      fields: keyFields,
      record: 'new',
      noun: `a key ${id}`,
      listedBy: 'keys list',
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
        advice: [
          `pnpm operator keys revoke ${id} revokes it. Give another id, or none to have one made.`,
        ],
      },
    )
  session.json(done)
  session.say(
    `The key ${id} of ${options.user ?? ''} is made. This is the only time that it is shown:\n\n  ${made.key}\n`,
  )
}

export const revokeKey = (world: World, id: string, options: ChangeOptions): Promise<void> =>
  tellChange(
    world,
    revocation('apiKeys', id, { noun: `the key ${id}`, listedBy: 'keys list' }),
    options,
  )

export const revokeToken = (world: World, id: string, options: ChangeOptions): Promise<void> =>
  tellChange(
    world,
    revocation('accessTokens', id, { noun: `the token ${id}`, listedBy: 'tokens list' }),
    options,
  )

const revocation = (
  section: string,
  id: string,
  words: Pick<Change, 'noun' | 'listedBy'>,
): Change => ({
  section,
  key: { id, enabled: false },
  record: 'there',
  ...words,
  whenLost: 'Call again: revoking what is revoked does no harm.',
})
