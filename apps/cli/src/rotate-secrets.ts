// Has the service encrypt all stored secrets with its current key, batch by batch. A call that is
// interrupted can be repeated.
import { printForPeople, printForPrograms, type CommandContext } from './context.ts'
import type { Check } from './doctor.ts'
import { CommandFailure } from './failure.ts'

interface Batch {
  readonly resealed: number
  readonly unreadable: readonly { readonly kind: string; readonly id: string }[]
  readonly cursor: string | null
}

const secretLabels: Readonly<Record<string, string>> = {
  provider_token: 'the provider token of the tenant',
  webhook_secret: 'the secret of the webhook',
  previous_webhook_secret: 'the previous secret of the webhook',
  kept_reply: 'the stored reply of the key claim',
}

export const rotateSecrets = async (context: CommandContext): Promise<void> => {
  const unreadable: Batch['unreadable'][number][] = []
  let resealed = 0
  for (let cursor: string | null | undefined; cursor !== null;) {
    const whenLost = 'Call again: secrets that are encrypted with the current key are skipped.'
    const batch: Batch = await context.api.post('/secrets/rotate', { cursor }, whenLost)
    resealed += batch.resealed
    unreadable.push(...batch.unreadable)
    cursor = batch.cursor
  }
  printForPrograms(context, { resealed, unreadable })
  const count = `${resealed} ${resealed === 1 ? 'secret was' : 'secrets were'}`
  printForPeople(context, `${count} encrypted with the current key.`)
  if (unreadable.length > 0)
    throw new CommandFailure(
      'UNREADABLE_SECRETS',
      `${unreadable.length} cannot be decrypted with any key of the service, and stay as they are:`,
      {
        issues: unreadable.map(({ kind, id }) => ({
          path: `${secretLabels[kind] ?? kind} ${id}`,
          message: 'no key decrypts it',
        })),
        advice: [
          'Start the service with the key that encrypted them in SECRETS_KEY_PREVIOUS and call again.',
          'If that key is lost: set the provider token again in a document; the user rotates the secret of the webhook (POST /webhooks/:id/rotate-secret); a stored reply expires after a day.',
        ],
      },
    )
  // An instance that has not changed its key yet may have encrypted more in the meantime.
  const checks = await context.api.get<readonly Check[]>('/doctor')
  const secrets = checks.find(({ name }) => name === 'secrets')
  if (secrets?.status !== 'ok')
    throw new CommandFailure(
      'SECRETS_LEFT',
      `Not all secrets are encrypted with the current key: ${secrets?.message ?? 'the service does not report it.'}`,
      {
        advice: [
          'Start every instance with the current key in SECRETS_KEY, and call again; until then keep SECRETS_KEY_PREVIOUS.',
        ],
      },
    )
  printForPeople(
    context,
    'No secret is encrypted with another key than the SECRETS_KEY of the instance that was asked. Once every instance has that one, start each without SECRETS_KEY_PREVIOUS.',
  )
}
