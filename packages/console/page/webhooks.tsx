// Webhooks: the list, and a form for a new one or for changes to one.
import type { CreatedWebhook, Delivery, NewWebhook, Webhook } from '@tradeport/client'
import { useState } from 'preact/hooks'
import { Outcome, useAction } from './actions.tsx'
import { eventTitle, eventTypes } from './events.ts'
import { Age, heads, Notice, Scroll, Section, Shown, Time } from './parts.tsx'
import { useInterval, useRead } from './read.ts'
import { whyHidden, type Session } from './session.ts'

const refreshMs = 15_000

export const Webhooks = ({ session }: { session: Session }) => {
  const { client, me } = session
  const hidden = whyHidden(me, 'webhooks')
  const fixed = whyHidden(me, 'changeWebhooks')
  const [created, setCreated] = useState<CreatedWebhook>()
  const webhooks = useRead(
    'webhooks',
    hidden === undefined
      ? async (signal) => (await client.listWebhooks({ signal })).data
      : undefined,
  )
  useInterval(webhooks.refresh, refreshMs)
  return (
    <>
      <h1>Webhooks</h1>
      <DeliversNothing session={session} />
      {created !== undefined && <Secret webhook={created} onStored={() => setCreated(undefined)} />}
      <Section title="Your webhooks" aside="at most ten">
        {hidden === undefined ? (
          <Shown read={webhooks}>
            {(list) => <WebhookTable session={session} webhooks={list} />}
          </Shown>
        ) : (
          <Notice>{hidden}</Notice>
        )}
      </Section>
      <Section title="New webhook">
        {fixed === undefined ? (
          <WebhookForm
            key={created?.id}
            session={session}
            action="Create webhook"
            onSubmit={async (webhook) => {
              try {
                setCreated((await client.createWebhook(webhook)).data)
              } finally {
                webhooks.refresh()
              }
            }}
          />
        ) : (
          <Notice>{fixed}</Notice>
        )}
      </Section>
    </>
  )
}

/** Says so where the service delivers no events. */
export const DeliversNothing = ({ session: { me } }: { session: Session }) =>
  me.capabilities.includes('events') ? null : (
    <Notice kind="warning">
      This service does not have the capability events switched on: it records no events and
      delivers none. Tests are sent.
    </Notice>
  )

const WebhookTable = ({
  session,
  webhooks,
}: {
  session: Session
  webhooks: readonly Webhook[]
}) => {
  if (webhooks.length === 0)
    return <p class="quiet">No webhook is registered: nothing is posted anywhere.</p>
  return (
    <Scroll label="Webhooks">
      <table class="webhooks">
        <thead>
          <tr>{heads('Posts to', 'State', 'Events', 'Last success', 'Last failure')}</tr>
        </thead>
        <tbody>
          {webhooks.map((webhook) => (
            <tr key={webhook.id}>
              <th scope="row">
                <a class="url" href={`/console/webhooks/${webhook.id}`}>
                  {webhook.url}
                </a>
              </th>
              <td>
                <WebhookState webhook={webhook} />
              </td>
              <td title={webhook.eventTypes.map(eventTitle).join(', ')}>
                {webhook.eventTypes.length} of {eventTypes.length}
              </td>
              <td>
                {webhook.lastSuccessAt === null ? 'never' : <Age iso={webhook.lastSuccessAt} />}
              </td>
              <td class="words">
                <LastFailure session={session} webhook={webhook} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

export const WebhookState = ({ webhook: { enabled, failureCount } }: { webhook: Webhook }) =>
  enabled ? (
    <span class={`status ${failureCount === 0 ? 'connected' : 'syncing'}`}>
      {failureCount === 0 ? 'Enabled' : `Failing, ${failureCount} in a row`}
    </span>
  ) : (
    <span class="status off">{failureCount === 0 ? 'Disabled' : 'Disabled after failures'}</span>
  )

const reasons: Readonly<Record<NonNullable<Delivery['failureReason']>, string>> = {
  host_unreachable: 'its host has no address that the service may post to',
  connection_failed: 'no connection could be made',
  tls_failed: 'its certificate was not accepted',
  answer_broken: 'it hung up without a whole answer',
  timed_out: 'it did not answer in time',
  not_2xx: 'it refused the delivery',
  gone: 'it answered 410: it wants no more',
  webhook_disabled: 'not sent, because the webhook was disabled',
  interrupted: 'the service ended meanwhile: it may have arrived',
}

/** Why an attempt failed, in words; also of a reason that a newer service has. */
export const failureWords = (
  reason: NonNullable<Delivery['failureReason']>,
  responseCode: number | null,
): string =>
  reason === 'not_2xx' ? `it answered ${responseCode} instead of 2xx` : (reasons[reason] ?? reason)

/** When a webhook last failed, and why. */
export const LastFailure = ({
  session: { client },
  webhook: { id, lastFailureAt },
}: {
  session: Session
  webhook: Webhook
}) => {
  const cause = useRead(
    `${id} ${lastFailureAt}`,
    lastFailureAt === null
      ? undefined
      : async (signal) => {
          const pages = await Promise.all(
            (['failed', 'pending'] as const).map((status) =>
              client.listWebhookDeliveries(id, { status, limit: 20 }, { signal }),
            ),
          )
          return pages
            .flatMap(({ data }) => data)
            .filter(({ attempts, failureReason }) => attempts > 0 && failureReason !== null)
            .toSorted((a, b) => (b.lastAttemptAt ?? '').localeCompare(a.lastAttemptAt ?? ''))[0]
        },
  )
  if (lastFailureAt === null) return <>never</>
  const { failureReason, responseCode } = cause.data ?? {}
  return (
    <>
      <Time iso={lastFailureAt} />
      {failureReason && `: ${failureWords(failureReason, responseCode ?? null)}`}
    </>
  )
}

/** The secret of a webhook, which is nowhere else once the reader leaves. */
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
  session: { me },
  webhook,
  action: label,
  onSubmit,
  onCancel,
}: {
  session: Session
  webhook?: Webhook
  action: string
  onSubmit: (webhook: NewWebhook) => Promise<void>
  onCancel?: () => void
}) => {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(webhook?.eventTypes))
  const action = useAction()
  // These two are only for services that record events.
  const offered = eventTypes.filter(
    (type) =>
      me.capabilities.includes('events') || !['order.rejected', 'order.expired'].includes(type),
  )
  const submit = (event: Event): void => {
    event.preventDefault()
    void action.run(async () => {
      if (chosen.size === 0) throw new Error('Choose at least one event.')
      await onSubmit({ url: url.trim(), eventTypes: offered.filter((type) => chosen.has(type)) })
      return undefined
    })
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
      <fieldset>
        <legend>Events</legend>
        <div class="choices">
          {offered.map((type) => (
            <label key={type} class="choice">
              <input
                type="checkbox"
                checked={chosen.has(type)}
                onChange={({ currentTarget: { checked } }) => {
                  const others = [...chosen].filter((one) => one !== type)
                  setChosen(new Set(checked ? [...others, type] : others))
                }}
              />
              {eventTitle(type)}
            </label>
          ))}
          <button type="button" onClick={() => setChosen(new Set(offered))}>
            All
          </button>
        </div>
      </fieldset>
      <Outcome action={action} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={action.isRunning}>
          {label}
        </button>
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  )
}
