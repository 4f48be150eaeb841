// One webhook: its state, what can be done with it, and its deliveries.
import type { CreatedWebhook, Delivery, QueryOf, Webhook } from '@tradeport/client'
import { useState } from 'preact/hooks'
import { Confirm, Outcome, useAction } from './actions.tsx'
import { eventTitle } from './events.ts'
import { number, plural } from './format.ts'
import { navigate, setQuery } from './location.ts'
import { Age, figureHeads, heads, Notice, Scroll, Section, Shown, Time } from './parts.tsx'
import { useInterval, useRead } from './read.ts'
import { whyHidden, type Session } from './session.ts'
import {
  DeliversNothing,
  failureWords,
  LastFailure,
  Secret,
  WebhookForm,
  WebhookState,
} from './webhooks.tsx'

const refreshMs = 5_000
const pageSize = 25

export const WebhookPage = ({
  session,
  id,
  query,
}: {
  session: Session
  id: string
  query: URLSearchParams
}) => {
  const { client, me } = session
  const hidden = whyHidden(me, 'webhooks')
  const fixed = whyHidden(me, 'changeWebhooks')
  const [rotated, setRotated] = useState<CreatedWebhook>()
  const webhook = useRead(
    id,
    hidden === undefined
      ? async (signal) => (await client.getWebhook(id, { signal })).data
      : undefined,
  )
  const filter = filterOf(query)
  const deliveries = useRead(
    `${id} ${JSON.stringify(filter)}`,
    hidden === undefined
      ? (signal) => client.listWebhookDeliveries(id, { ...filter, limit: pageSize }, { signal })
      : undefined,
  )
  const refresh = (): void => {
    webhook.refresh()
    deliveries.refresh()
  }
  useInterval(refresh, refreshMs)
  return (
    <>
      <p>
        <a href="/console/webhooks">← Webhooks</a>
      </p>
      {hidden !== undefined && <Notice>{hidden}</Notice>}
      <DeliversNothing session={session} />
      {rotated !== undefined && <Secret webhook={rotated} onStored={() => setRotated(undefined)} />}
      {hidden === undefined && (
        <>
          <Shown read={webhook}>
            {(shown) => (
              <>
                <h1 class="url">{shown.url}</h1>
                <Section title="State" aside={<WebhookState webhook={shown} />}>
                  <Facts session={session} webhook={shown} />
                  {fixed === undefined ? (
                    <Changes {...{ session, refresh, webhook: shown, onRotated: setRotated }} />
                  ) : (
                    <Notice>{fixed}</Notice>
                  )}
                </Section>
              </>
            )}
          </Shown>
          <Section
            title="Deliveries"
            aside={
              <label>
                Show{' '}
                <select
                  value={filter.status ?? ''}
                  onChange={({ currentTarget: { value } }) => setQuery({ status: value, page: '' })}
                >
                  <option value="">all</option>
                  <option value="success">delivered</option>
                  <option value="pending">waiting</option>
                  <option value="failed">failed</option>
                </select>
              </label>
            }
          >
            <Shown read={deliveries}>
              {({ data, meta: { pagination } }) => (
                <>
                  <DeliveryTable
                    {...{ session, refresh, deliveries: data }}
                    mayReplay={fixed === undefined}
                  />
                  {pagination.total_pages > 1 && (
                    <Paging page={pagination.page} pages={pagination.total_pages} />
                  )}
                </>
              )}
            </Shown>
          </Section>
          {fixed === undefined && me.capabilities.includes('events') && (
            <Recover {...{ session, id, refresh }} />
          )}
        </>
      )}
    </>
  )
}

const statuses = ['success', 'pending', 'failed'] as const

const filterOf = (query: URLSearchParams): QueryOf<'listWebhookDeliveries'> => {
  const status = statuses.find((one) => one === query.get('status'))
  const page = Number(query.get('page') ?? 1)
  return {
    ...(status !== undefined && { status }),
    page: Number.isInteger(page) && page > 0 ? page : 1,
  }
}

const Facts = ({ session, webhook }: { session: Session; webhook: Webhook }) => (
  <dl class="facts">
    <div>
      <dt>Last success</dt>
      <dd>{webhook.lastSuccessAt === null ? 'never' : <Age iso={webhook.lastSuccessAt} />}</dd>
    </div>
    <div>
      <dt>Last failure</dt>
      <dd>
        <LastFailure session={session} webhook={webhook} />
      </dd>
    </div>
    <div>
      <dt>Created</dt>
      <dd>
        <Time iso={webhook.createdAt} />
      </dd>
    </div>
    <div class="whole">
      <dt>Events</dt>
      <dd>{webhook.eventTypes.map(eventTitle).join(', ')}</dd>
    </div>
  </dl>
)

type Step = 'change' | 'disable' | 'rotate' | 'remove'

const Changes = ({
  session,
  webhook: { id, url, enabled, failureCount },
  webhook,
  refresh,
  onRotated,
}: {
  session: Session
  webhook: Webhook
  refresh: () => void
  onRotated: (webhook: CreatedWebhook) => void
}) => {
  const { client } = session
  const [step, setStep] = useState<Step>()
  const [overlapHours, setOverlapHours] = useState('24')
  const action = useAction()
  const close = (): void => setStep(undefined)
  const act = (work: () => Promise<string | undefined>) => async (): Promise<void> => {
    close()
    await action.run(work)
    refresh()
  }
  const test = act(async () => {
    const { success, responseCode, responseTimeMs, failureReason } = (await client.testWebhook(id))
      .data
    if (success) return `The test arrived: answered ${responseCode} in ${responseTimeMs} ms.`
    throw new Error(
      `The test did not arrive: ${failureReason === null ? `it answered ${responseCode}` : failureWords(failureReason, responseCode)}.`,
    )
  })
  const enable = (to: boolean) =>
    act(async () => {
      await client.changeWebhook(id, { enabled: to })
      return to ? 'It is enabled.' : 'It is disabled.'
    })
  const rotate = act(async () => {
    onRotated((await client.rotateWebhookSecret(id, { overlapHours: Number(overlapHours) })).data)
    scrollTo(0, 0)
    return 'The secret was replaced.'
  })
  const remove = act(async () => {
    await client.deleteWebhook(id)
    navigate('/console/webhooks')
    return undefined
  })
  if (step === 'change')
    return (
      <WebhookForm
        session={session}
        webhook={webhook}
        action="Save"
        onSubmit={async (changes) => {
          await client.changeWebhook(id, changes)
          close()
          refresh()
        }}
        onCancel={close}
      />
    )
  return (
    <>
      {!enabled && failureCount > 0 && (
        <Notice kind="warning">
          Nothing is delivered since {failureCount} attempts in a row failed. Enable it once the
          receiver works, and then recover what it missed.
        </Notice>
      )}
      <div class="buttons">
        <button type="button" disabled={action.isRunning} onClick={() => void test()}>
          Send a test
        </button>
        <button
          type="button"
          disabled={action.isRunning}
          onClick={() => (enabled ? setStep('disable') : void enable(true)())}
        >
          {enabled ? 'Disable…' : 'Enable'}
        </button>
        <button type="button" disabled={action.isRunning} onClick={() => setStep('change')}>
          Change…
        </button>
        <button type="button" disabled={action.isRunning} onClick={() => setStep('rotate')}>
          Rotate the secret…
        </button>
        <button type="button" disabled={action.isRunning} onClick={() => setStep('remove')}>
          Remove…
        </button>
      </div>
      <Outcome action={action} />
      {step === 'disable' && (
        <Confirm
          title="Disable this webhook?"
          action="Disable"
          onConfirm={() => void enable(false)()}
          onCancel={close}
        >
          <p>
            Nothing is posted to <span class="url">{url}</span> until it is enabled again.
            Deliveries that are waiting fail, and can be recovered later.
          </p>
        </Confirm>
      )}
      {step === 'remove' && (
        <Confirm
          title="Remove this webhook?"
          action="Remove"
          onConfirm={() => void remove()}
          onCancel={close}
        >
          <p>
            Nothing is posted to <span class="url">{url}</span> any more, and its secret and the
            record of its deliveries are gone. This cannot be undone.
          </p>
        </Confirm>
      )}
      {step === 'rotate' && (
        <Confirm
          title="Rotate the secret?"
          action="Rotate"
          onConfirm={() => void rotate()}
          onCancel={close}
        >
          <p>
            A new secret is made and shown once. While both overlap, the header webhook-signature
            holds two signatures, that of the new secret first, so that the receiver can change over
            without losing a delivery. X-Webhook-Signature is that of the new secret at once.
          </p>
          <label>
            Overlap in hours, 0 to 168{' '}
            <input
              type="number"
              min="0"
              max="168"
              value={overlapHours}
              onInput={({ currentTarget }) => setOverlapHours(currentTarget.value)}
            />
          </label>
        </Confirm>
      )}
    </>
  )
}

const statusWords: Readonly<Record<Delivery['status'], readonly [words: string, dot: string]>> = {
  success: ['Delivered', 'connected'],
  pending: ['Waiting', 'syncing'],
  failed: ['Failed', 'error'],
}

const DeliveryTable = ({
  session: { client },
  deliveries,
  mayReplay,
  refresh,
}: {
  session: Session
  deliveries: readonly Delivery[]
  mayReplay: boolean
  refresh: () => void
}) => {
  const action = useAction()
  const replay = async ({ id, webhookId }: Delivery): Promise<void> => {
    await action.run(async () => {
      await client.replayWebhookDelivery(webhookId, id)
      return 'It is sent again, once, as a new delivery.'
    })
    refresh()
  }
  if (deliveries.length === 0) return <p class="quiet">There is no such delivery.</p>
  return (
    <>
      <Outcome action={action} />
      <Scroll label="Deliveries">
        <table>
          <thead>
            <tr>
              {heads('Event', 'Status', 'Outcome of the last attempt')}
              {figureHeads('Attempts')}
              {heads('Recorded', 'Last attempt', 'Next attempt')}
              {mayReplay && (
                <th scope="col">
                  <span class="sr-only">Replay</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {deliveries.map((delivery) => (
              <tr key={delivery.id}>
                <th scope="row">{eventTitle(delivery.eventType)}</th>
                <td>
                  <span class={`status ${statusWords[delivery.status][1]}`}>
                    {statusWords[delivery.status][0]}
                  </span>
                </td>
                <td class="words">{outcomeOf(delivery)}</td>
                <td class="figure">{number(delivery.attempts)}</td>
                <td>
                  <Time iso={delivery.createdAt} />
                </td>
                <td>
                  {delivery.lastAttemptAt === null ? '–' : <Time iso={delivery.lastAttemptAt} />}
                </td>
                <td>
                  {delivery.nextAttemptAt === null ? '–' : <Time iso={delivery.nextAttemptAt} />}
                </td>
                {mayReplay && (
                  <td>
                    <button
                      type="button"
                      class="small"
                      disabled={action.isRunning}
                      onClick={() => void replay(delivery)}
                    >
                      Replay
                    </button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  )
}

const outcomeOf = ({ failureReason, responseCode, responseTimeMs }: Delivery): string => {
  if (failureReason !== null) return failureWords(failureReason, responseCode)
  return responseCode === null ? 'not sent yet' : `answered ${responseCode} in ${responseTimeMs} ms`
}

const Paging = ({ page, pages }: { page: number; pages: number }) => (
  <div class="buttons">
    <button
      type="button"
      disabled={page <= 1}
      onClick={() => setQuery({ page: page === 2 ? '' : String(page - 1) })}
    >
      Newer
    </button>
    <button
      type="button"
      disabled={page >= pages}
      onClick={() => setQuery({ page: String(page + 1) })}
    >
      Older
    </button>
    <span class="quiet">
      Page {page} of {pages}
    </span>
  </div>
)

const Recover = ({
  session: { client },
  id,
  refresh,
}: {
  session: Session
  id: string
  refresh: () => void
}) => {
  const [since, setSince] = useState('')
  const action = useAction()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    await action.run(async () => {
      const { scheduled } = (
        await client.recoverWebhook(id, { since: new Date(since).toISOString() })
      ).data
      return scheduled === 0
        ? 'It missed nothing since then.'
        : `${plural(scheduled, 'event')} ${scheduled === 1 ? 'is' : 'are'} delivered again${scheduled === mostRecovered ? ', the most for one time: recover again for the rest' : ''}.`
    })
    refresh()
  }
  return (
    <Section title="Recover what it missed">
      <form class="filters" onSubmit={(event) => void submit(event)}>
        <label>
          Since
          <input
            type="datetime-local"
            required
            value={since}
            onInput={({ currentTarget }) => setSince(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={action.isRunning}>
          Recover
        </button>
      </form>
      <p class="quiet">
        Every event since then that it did not receive is delivered, oldest first, with retries:
        because it was disabled, not registered for the type, or all attempts failed. What was
        delivered or is waiting is left as it is. Events are kept for 30 days unless the operator
        chose otherwise.
      </p>
      <Outcome action={action} />
    </Section>
  )
}

/** One call schedules no more. */
const mostRecovered = 10_000
