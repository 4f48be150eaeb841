// Webhooks: the list, and a form for a new one or for changes to one.
import type { CreatedWebhook, Delivery, NewWebhook, Webhook } from '@tradeport/client'
import { useState } from 'preact/hooks'
import { ActionMessage, useAction } from './actions.tsx'
import { eventTitle, eventTypes, type EventType } from './events.ts'
import { TypeChoices } from './filters.tsx'
import { Age, Notice, ReadSection, Section, Table, Time, type Column } from './parts.tsx'
import { useData, useRead } from './read.ts'
import { useSession } from './session.ts'

const everyMs = 15_000

export const Webhooks = () => {
  const { client, whyHidden } = useSession()
  const whyReadOnly = whyHidden('changeWebhooks')
  /** Those whose secrets are not stored yet. */
  const [created, setCreated] = useState<readonly CreatedWebhook[]>([])
  const [createdCount, setCreatedCount] = useState(0)
  const webhooks = useData('webhooks', 'listWebhooks', [], { everyMs })
  return (
    <>
      <DeliversNothing />
      {created.map((webhook) => (
        <Secret
          key={webhook.id}
          webhook={webhook}
          onStored={() => setCreated((all) => all.filter((one) => one !== webhook))}
        />
      ))}
      <ReadSection title="Your webhooks" aside="at most ten" read={webhooks}>
        {(list) => (
          <Table
            label="Webhooks"
            none="No webhook is registered: nothing is posted anywhere."
            kind="webhooks"
            rows={list}
            keyOf={({ id }) => id}
            columns={columns}
          />
        )}
      </ReadSection>
      <Section title="New webhook" whyHidden={whyReadOnly}>
        <WebhookForm
          key={createdCount}
          action="Create webhook"
          onSubmit={async (webhook, idempotencyKey) => {
            try {
              const { data } = await client.createWebhook(webhook, { idempotencyKey })
              setCreated((all) => [...all, data])
              setCreatedCount((count) => count + 1)
            } finally {
              webhooks.refresh()
            }
          }}
        />
      </Section>
    </>
  )
}

/** Says so where the service delivers no events. */
export const DeliversNothing = () =>
  useSession().me.capabilities.includes('events') ? null : (
    <Notice kind="warning">
      This service does not have the capability events switched on: it records no events and
      delivers none. Tests are sent.
    </Notice>
  )

const columns: readonly Column<Webhook>[] = [
  [
    'Posts to',
    ({ id, url }) => (
      <a class="url" href={`/console/webhooks/${id}`}>
        {url}
      </a>
    ),
    'row',
  ],
  ['State', (webhook) => <WebhookState webhook={webhook} />],
  [
    'Events',
    (webhook) => (
      <span title={webhook.eventTypes.map(eventTitle).join(', ')}>
        {webhook.eventTypes.length} of {eventTypes.length}
      </span>
    ),
  ],
  [
    'Last success',
    ({ lastSuccessAt }) => (lastSuccessAt === null ? 'never' : <Age iso={lastSuccessAt} />),
  ],
  ['Last failure', (webhook) => <LastFailure webhook={webhook} />, 'words'],
]

export const WebhookState = ({ webhook: { enabled, failureCount } }: { webhook: Webhook }) =>
  enabled ? (
    <span class={`status ${failureCount === 0 ? 'connected' : 'syncing'}`}>
      {failureCount === 0 ? 'Enabled' : `Failing, ${failureCount} in a row`}
    </span>
  ) : (
    <span class="status off">Disabled</span>
  )

const failureReasons: Readonly<Record<NonNullable<Delivery['failureReason']>, string>> = {
  host_unreachable: 'its host has no address that the service may post to',
  lookup_failed: 'the name of its host could not be looked up',
  connection_failed: 'no connection could be made',
  tls_failed: 'its certificate was not accepted',
  answer_broken: 'it hung up without a whole answer',
  timed_out: 'it did not answer in time',
  not_2xx: 'it refused the delivery',
  webhook_disabled: 'not sent, because the webhook was disabled',
  interrupted: 'the service ended meanwhile: it may have arrived',
}

/** Why an attempt failed, in words; also of a reason that a newer service has. */
export const failureWords = (
  reason: NonNullable<Delivery['failureReason']>,
  responseCode: number | null,
): string =>
  reason === 'not_2xx'
    ? `it answered ${responseCode} instead of 2xx`
    : (failureReasons[reason] ?? reason)

/** How long an attempt may have lasted. */
const longestAttemptMs = 32_000

/** When a webhook last failed, and why. */
export const LastFailure = ({ webhook: { id, lastFailureAt } }: { webhook: Webhook }) => {
  const lastedMs = ({ lastAttemptAt }: Delivery): number =>
    Date.parse(lastFailureAt ?? '') - Date.parse(lastAttemptAt ?? '')
  const cause = useRead(
    'webhooks',
    `${id} ${lastFailureAt}`,
    lastFailureAt === null
      ? undefined
      : async (client, signal) => {
          const pages = await Promise.all(
            (['failed', 'pending'] as const).map((status) =>
              client.listWebhookDeliveries(id, { status, limit: 20 }, { signal }),
            ),
          )
          // The delivery that failed then may have succeeded since, or be further back in the list.
          return pages
            .flatMap(({ data }) => data)
            .filter((one) => lastedMs(one) >= 0 && lastedMs(one) < longestAttemptMs)
            .toSorted((one, other) => lastedMs(one) - lastedMs(other))[0]
        },
  )
  if (lastFailureAt === null) return <>never</>
  const { failureReason, responseCode } = cause.data ?? {}
  return (
    <>
      <Time iso={lastFailureAt} />
      {!cause.readAt && !cause.failure && <span class="reading"> Reading why…</span>}
      {failureReason && `: ${failureWords(failureReason, responseCode ?? null)}`}
      {cause.failure && `: why is not known. ${cause.failure}`}
    </>
  )
}

const focus = (element: HTMLElement | null): void => element?.focus()

/** The secret of a webhook, which is nowhere else once the user leaves. */
export const Secret = ({
  webhook: { url, secret },
  onStored,
}: {
  webhook: CreatedWebhook
  onStored: () => void
}) => {
  const [copied, setCopied] = useState<string>()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(secret)
      setCopied('Copied.')
    } catch {
      setCopied('This browser does not let the page copy it: select the text and copy it yourself.')
    }
  }
  return (
    <section class="secret" aria-label="Secret">
      <h2>The secret of {url}</h2>
      <p>
        The receiver needs it to check the signatures. <strong>It is shown only now</strong>: nobody
        can read it again, and a lost one can only be replaced by rotation.
      </p>
      <div class="copied">
        <input
          ref={focus}
          aria-label="Secret of the webhook"
          readOnly
          value={secret}
          autocomplete="off"
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <button type="button" class="primary" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={onStored}>
          I have stored it
        </button>
      </div>
      <p class="quiet" role="status">
        {copied}
      </p>
    </section>
  )
}

/** The address and the types of a webhook. */
export const WebhookForm = ({
  webhook,
  action: label,
  onSubmit,
  onCancel,
}: {
  webhook?: Webhook
  action: string
  onSubmit: (webhook: NewWebhook, idempotencyKey: string) => Promise<void>
  onCancel?: () => void
}) => {
  const { me } = useSession()
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [chosen, setChosen] = useState<readonly EventType[]>(webhook?.eventTypes ?? [])
  const action = useAction(`webhook ${webhook?.id ?? ''}`)
  // Rejections and expiries are only for services that record events. What the webhook has already
  // is not lost on a change.
  const offered = [
    ...new Set([
      ...eventTypes.filter(
        (type) =>
          me.capabilities.includes('events') || !['order.rejected', 'order.expired'].includes(type),
      ),
      ...(webhook?.eventTypes ?? []),
    ]),
  ]
  const submit = (): void => {
    const typed = { url: url.trim(), eventTypes: chosen }
    void action.run(async (idempotencyKey) => {
      if (chosen.length === 0) throw new Error('Choose at least one event.')
      await onSubmit(typed, idempotencyKey)
      return undefined
    }, JSON.stringify(typed))
  }
  return (
    <form class="webhook-form" onSubmit={submit}>
      <label>
        Posts to
        <input
          type="url"
          required
          placeholder="https://example.com/hooks/tradeport"
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
      </label>
      <TypeChoices legend="Events" offered={offered} chosen={chosen} onChange={setChosen}>
        <button type="button" onClick={() => setChosen(offered)}>
          All
        </button>
      </TypeChoices>
      <ActionMessage action={action} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={action.isDisabled}>
          {label}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  )
}
