// Has the service seal all stored secrets under its current key, batch by batch: ended at any
// moment, it is called again and goes on with what is left.
import { CommandFailure } from '../failure.ts'
import type { Check } from '../records.ts'
import { openSession } from '../session.ts'
import type { CommonOptions, Session } from '../session.ts'
import type { World } from '../world.ts'

interface Batch {
  readonly resealed: number
  readonly unreadable: readonly { readonly kind: string; readonly id: string }[]
  readonly cursor: string | null
}

const holders: Readonly<Record<string, string>> = {
  provider_token: 'the provider token of the tenant',
  webhook_secret: 'the secret of the webhook',
  kept_reply: 'the reply kept for the idempotency key with the claim',
}

// An instance that still seals under an earlier key may have done so behind the pass.
const requireNoOthers = async ({ api }: Session): Promise<void> => {
  const checks = await api.get<readonly Check[]>('/doctor')
  const secrets = checks.find(({ name }) => name === 'secrets')
  if (secrets?.status === 'ok') return
  throw new CommandFailure(
    `Not all secrets are under the current key: ${secrets?.message ?? 'the service does not say how they are sealed.'}`,
    {
      code: 'SECRETS_LEFT',
      advice: [
        'Start every instance with the current key in SECRETS_KEY, and call again; until then keep SECRETS_KEY_PREVIOUS.',
      ],
    },
  )
}

export const rotateSecrets = async (world: World, options: CommonOptions): Promise<void> => {
  const session = await openSession(world, options)
  const unreadable: Batch['unreadable'][number][] = []
  let resealed = 0
  for (let cursor: string | null | undefined; cursor !== null;) {
    const whenLost = 'Call again: what is sealed under the current key already is passed over.'
    const batch: Batch = await session.api.post('/secrets/rotate', { cursor }, whenLost)
    resealed += batch.resealed
    unreadable.push(...batch.unreadable)
    cursor = batch.cursor
  }
  session.json({ resealed, unreadable })
  session.say(
    `${resealed} ${resealed === 1 ? 'secret was' : 'secrets were'} sealed anew under the current key.`,
  )
  if (unreadable.length > 0)
    throw new CommandFailure(
      `${unreadable.length} cannot be opened by any key that the service was given, and stay as they are:`,
      {
        code: 'UNREADABLE_SECRETS',
        faults: unreadable.map(({ kind, id }) => ({
          path: `${holders[kind] ?? kind} ${id}`,
          message: 'no key opens it',
        })),
        advice: [
          'Start the service with the key that sealed them in SECRETS_KEY_PREVIOUS and call again.',
          'If that key is lost: set the provider token anew by a document; a webhook is to be made anew by its user; a kept reply expires after a day.',
        ],
      },
    )
  await requireNoOthers(session)
  session.say(
    'Nothing is left under another key: SECRETS_KEY_PREVIOUS can be dropped at the next start of each instance.',
  )
}
