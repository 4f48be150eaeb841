// One webhook: its state, what can be done with it, and its deliveries.
import type { CreatedWebhook, Delivery, Webhook } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ActionMessage, useAction, type Work } from './actions.tsx'
import { Dialog } from './dialog.tsx'
import { eventTitle } from './events.ts'
import { isoOfLocal } from './fields.tsx'
import { QuerySelect, useChoice } from './filters.tsx'
import { number, pluralIs } from './format.ts'
import { navigate, setQuery, useQuery } from './location.ts'
import {
  Age,
  Facts,
  Notice,
  ReadResult,
  ReadSection,
  Section,
  Table,
  Time,
  type Column,
} from './parts.tsx'
import { useData, useReply } from './read.ts'
import { useSession } from './session.ts'
import {
  DeliversNothing,
  failureWords,
  LastFailure,
  Secret,
  WebhookForm,
  WebhookState,
} from './webhooks.tsx'

const again = { everyMs: 5_000 }
const pageSize = 25

export const WebhookPage = ({ id }: { id: string }) => {
  const { me, whyHidden } = useSession()
  const whyReadOnly = whyHidden('changeWebhooks')
  const [rotated, setRotated] = useState<CreatedWebhook>()
  const webhook = useData('webhooks', 'getWebhook', [id], again)
  const status = useChoice<Status | ''>('status', statusNames, '')
  const page = Number(useQuery().get('page') ?? 1)
  const filter = {
    ...(status && { status }),
    page: Number.isInteger(page) && page > 0 ? page : 1,
    limit: pageSize,
  }
  const deliveries = useReply('webhooks', 'listWebhookDeliveries', [id, filter], again)
  const refresh = (): void => {
    webhook.refresh()
    deliveries.refresh()
  }
  return (
    <>
      <p>
        <a href="/console/webhooks">← Webhooks</a>
      </p>
      <DeliversNothing />
      {rotated && (
        <Secret key={rotated.secret} webhook={rotated} onStored={() => setRotated(undefined)} />
      )}
      <ReadResult read={webhook}>
        {(shown) => (
          <>
            <h1 class="url">{shown.url}</h1>
            <Section title="State" aside={<WebhookState webhook={shown} />}>
              <Facts
                facts={[
                  [
                    'Last success',
                    shown.lastSuccessAt === null ? 'never' : <Age iso={shown.lastSuccessAt} />,
                  ],
                  ['Last failure', <LastFailure webhook={shown} />],
                  ['Created', <Time iso={shown.createdAt} />],
                  ['Events', shown.eventTypes.map(eventTitle).join(', '), 'whole'],
                ]}
              />
              {whyReadOnly ? (
                <Notice>{whyReadOnly}</Notice>
              ) : (
                <WebhookActions {...{ refresh, webhook: shown, onRotated: setRotated }} />
              )}
            </Section>
          </>
        )}
      </ReadResult>
      {!deliveries.whyHidden && (
        <>
          <ReadSection
            title="Deliveries"
            read={deliveries}
            aside={
              <QuerySelect
                label="Show"
                name="status"
                value={status}
                options={[
                  ['', 'all'],
                  ...statusNames.map((name) => [name, statuses[name][0].toLowerCase()] as const),
                ]}
                fallback=""
                clears={{ page: '' }}
              />
            }
          >
            {({ data, meta: { pagination } }) => (
              <>
                <DeliveryTable
                  {...{ refresh, deliveries: data, total: pagination.total }}
                  mayReplay={!whyReadOnly}
                />
                {data.length < pagination.total && (
                  <Paging page={pagination.page} pages={pagination.total_pages} />
                )}
              </>
            )}
          </ReadSection>
          {!whyReadOnly && me.capabilities.includes('events') && <Recover {...{ id, refresh }} />}
        </>
      )}
    </>
  )
}

type Status = Delivery['status']

const statuses: Readonly<Record<Status, readonly [words: string, dot: string]>> = {
  success: ['Delivered', 'connected'],
  pending: ['Waiting', 'syncing'],
  failed: ['Failed', 'error'],
}
const statusNames = Object.keys(statuses) as readonly Status[]

const WebhookActions = ({
  webhook: { id, url, enabled },
  webhook,
  refresh,
  onRotated,
}: {
  webhook: Webhook
  refresh: () => void
  onRotated: (webhook: CreatedWebhook) => void
}) => {
  const { client } = useSession()
  const [isChanging, setIsChanging] = useState(false)
  const overlapHours = useRef('24')
  const action = useAction(id, refresh)
  const [question, setQuestion] = useState<Omit<Parameters<typeof Dialog>[0], 'onClose'>>()
  const { run } = action
  const test: Work = async (idempotencyKey) => {
    const { success, responseCode, responseTimeMs, failureReason } = (
      await client.testWebhook(id, { idempotencyKey })
    ).data
    if (success) return `The test arrived: answered ${responseCode} in ${responseTimeMs} ms.`
    throw new Error(
      `The test did not arrive: ${failureReason === undefined ? `it answered ${responseCode}` : failureWords(failureReason, responseCode)}.`,
    )
  }
  const enable = (to: boolean) => async (): Promise<string> => {
    await client.changeWebhook(id, { enabled: to })
    return to ? 'It was enabled.' : 'It was disabled.'
  }
  const rotate: Work = async (idempotencyKey) => {
    const body = { overlapHours: Number(overlapHours.current) }
    onRotated((await client.rotateWebhookSecret(id, body, { idempotencyKey })).data)
    return 'The secret was replaced.'
  }
  const remove = async (_: string, signal: AbortSignal): Promise<undefined> => {
    await client.deleteWebhook(id)
    if (!signal.aborted) navigate('/console/webhooks')
  }
  const ask = (
    title: string,
    verb: string,
    content: ComponentChildren,
    work: Work,
    nameOf = () => title,
  ): void =>
    setQuestion({ title, verb, children: content, onConfirm: () => void run(work, nameOf()) })
  const shownUrl = <span class="url">{url}</span>
  const buttons: readonly (readonly [name: string, onPress: () => void])[] = [
    ['Send a test', () => void run(test, 'test')],
    enabled
      ? [
          'Disable…',
          () =>
            ask(
              'Disable this webhook?',
              'Disable',
              <p>
                Nothing is posted to {shownUrl} until it is enabled again. Deliveries that are
                waiting fail, and can be recovered later.
              </p>,
              enable(false),
            ),
        ]
      : ['Enable', () => void run(enable(true), 'enable')],
    ['Change…', () => setIsChanging(true)],
    [
      'Rotate the secret…',
      () =>
        ask(
          'Rotate the secret?',
          'Rotate',
          <>
            <p>
              A new secret is made and shown once. While both overlap, the header webhook-signature
              holds two signatures, that of the new secret first, so that the receiver can change
              over without losing a delivery. X-Webhook-Signature is that of the new secret at once.
            </p>
            <label>
              Overlap in hours, 0 to 168{' '}
              <input
                type="number"
                required
                min="0"
                max="168"
                defaultValue={overlapHours.current}
                onInput={({ currentTarget }) => (overlapHours.current = currentTarget.value)}
              />
            </label>
          </>,
          rotate,
          () => `Rotate with an overlap of ${overlapHours.current} hours`,
        ),
    ],
    [
      'Remove…',
      () =>
        ask(
          'Remove this webhook?',
          'Remove',
          <p>
            Nothing is posted to {shownUrl} any more, and its secret and the record of its
            deliveries are gone. This cannot be undone.
          </p>,
          remove,
        ),
    ],
  ]
  if (isChanging)
    return (
      <WebhookForm
        webhook={webhook}
        action="Save"
        onSubmit={async (changes) => {
          await client.changeWebhook(id, changes)
          setIsChanging(false)
          refresh()
        }}
        onCancel={() => setIsChanging(false)}
      />
    )
  return (
    <>
      {!enabled && (
        <Notice kind="warning">
          Nothing is delivered. Enable it once the receiver works, and then recover what it missed.
        </Notice>
      )}
      <div class="buttons">
        {buttons.map(([name, onPress]) => (
          <button key={name} type="button" disabled={action.isDisabled} onClick={onPress}>
            {name}
          </button>
        ))}
      </div>
      <ActionMessage action={action} />
      {question && <Dialog {...question} onClose={() => setQuestion(undefined)} />}
    </>
  )
}

const DeliveryTable = ({
  deliveries,
  total,
  mayReplay,
  refresh,
}: {
  deliveries: readonly Delivery[]
  total: number
  mayReplay: boolean
  refresh: () => void
}) => {
  const { client } = useSession()
  const action = useAction('replay', refresh)
  const replay = ({ id, webhookId }: Delivery): void =>
    void action.run(async (idempotencyKey) => {
      await client.replayWebhookDelivery(webhookId, id, { idempotencyKey })
      return 'It is sent again, once, as a new delivery.'
    }, id)
  const replayColumn: Column<Delivery> = [
    'Replay',
    (delivery) => (
      <button
        type="button"
        class="small"
        disabled={action.isDisabled}
        onClick={() => replay(delivery)}
      >
        Replay
      </button>
    ),
    undefined,
    <span class="sr-only">Replay</span>,
  ]
  return (
    <>
      <ActionMessage action={action} />
      <Table
        label="Deliveries"
        none={total === 0 ? 'There is no such delivery.' : 'The list ends before this page.'}
        rows={deliveries}
        keyOf={({ id }) => id}
        columns={[
          ['Event', ({ eventType }) => eventTitle(eventType), 'row'],
          [
            'Status',
            ({ status }) => (
              <span class={`status ${statuses[status][1]}`}>{statuses[status][0]}</span>
            ),
          ],
          ['Outcome of the last attempt', outcomeOf, 'words'],
          ['Attempts', ({ attempts }) => number(attempts), 'figure'],
          ['Recorded', ({ createdAt }) => <Time iso={createdAt} />],
          ['Last attempt', ({ lastAttemptAt }) => timeOr(lastAttemptAt)],
          ['Next attempt', ({ nextAttemptAt }) => timeOr(nextAttemptAt)],
          mayReplay && replayColumn,
        ]}
      />
    </>
  )
}

const timeOr = (iso: string | null) => (iso === null ? '–' : <Time iso={iso} />)

const outcomeOf = ({ failureReason, responseCode, responseTimeMs }: Delivery): string => {
  if (failureReason !== null) return failureWords(failureReason, responseCode)
  return responseCode === null ? 'not sent yet' : `answered ${responseCode} in ${responseTimeMs} ms`
}

const Paging = ({ page, pages }: { page: number; pages: number }) => (
  <div class="buttons">
    <button
      type="button"
      disabled={page <= 1}
      onClick={() => setQuery({ page: String(Math.min(page - 1, pages)) })}
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

const Recover = ({ id, refresh }: { id: string; refresh: () => void }) => {
  const { client } = useSession()
  const [since, setSince] = useState('')
  const action = useAction(`recover ${id}`, refresh)
  const submit = (): void => {
    void action.run(async (idempotencyKey) => {
      const at = isoOfLocal(since)
      if (at === undefined) throw new Error('Enter a time.')
      const body = { since: at }
      const { scheduled } = (await client.recoverWebhook(id, body, { idempotencyKey })).data
      return scheduled === 0
        ? 'It missed nothing since then.'
        : `${pluralIs(scheduled, 'event')} delivered again${scheduled === maxRecovered ? ', the most for one time: recover again for the rest' : ''}.`
    }, since)
  }
  return (
    <Section title="Recover what it missed">
      <form class="filters" onSubmit={submit}>
        <label>
          Since
          <input
            type="datetime-local"
            required
            value={since}
            onInput={({ currentTarget }) => setSince(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={action.isDisabled}>
          Recover
        </button>
      </form>
      <p class="quiet">
        Every event since then that it did not receive is delivered, oldest first, with retries:
        because it was disabled, not registered for the type, or all attempts failed. What was
        delivered or is waiting is left as it is. Events are kept for 30 days unless the operator
        chose otherwise.
      </p>
      <ActionMessage action={action} />
    </Section>
  )
}

/** One call schedules at most so many. */
const maxRecovered = 10_000
