// Notices to the owner of an account by mail.
import type { Credential } from '../access/credential.ts'
import type { Owner } from '../primitives/ids.ts'
import { secondMs, toIso, type Instant } from '../primitives/instant.ts'

/**
 * A key, or all tokens that an application holds of the user, were refused too often and are
 * refused until then.
 */
export interface SuspensionNotice {
  readonly kind: 'suspended'
  readonly credential: Pick<Credential, 'kind' | 'id' | 'applicationId'>
  /** The refusal that led to it. */
  readonly since: Instant
  readonly until: Instant
}

/** The webhook gets no more: five attempts in a row failed. */
export interface WebhookDisabledNotice {
  readonly kind: 'webhook_disabled'
  readonly webhookId: string
  readonly url: string
  readonly at: Instant
  /** The `since` of a recovery of what it has missed. */
  readonly recoverSince: Instant
}

export type OwnerNotice = SuspensionNotice | WebhookDisabledNotice

/** What is suspended: limits are a key's own, and an application's for each user. */
const suspendedSubject = ({ id, applicationId }: SuspensionNotice['credential']): string =>
  applicationId ?? id

/**
 * The same text however often something is reported: a suspension is identified by its owner,
 * subject and end, the disabling of a webhook by its time.
 */
export const noticeKey = ({ tenantId, userId }: Owner, notice: OwnerNotice): string =>
  JSON.stringify([
    tenantId,
    userId,
    notice.kind,
    ...(notice.kind === 'suspended'
      ? [notice.credential.kind, suspendedSubject(notice.credential), notice.until]
      : [notice.webhookId, notice.at]),
  ])

// A notice in words: what happened, since when, until when, and what to do. It holds no secret; of
// a webhook's URL only the host is named, because paths and queries often carry a token.

interface NoticeText {
  /** One line. */
  readonly subject: string
  /** Plain text, its lines ended by `\n`. */
  readonly text: string
}

export const noticeText = (notice: OwnerNotice): NoticeText =>
  notice.kind === 'suspended' ? suspensionText(notice) : webhookDisabledText(notice)

const suspensionText = ({ credential, since, until }: SuspensionNotice): NoticeText => {
  const isKey = credential.kind === 'api_key'
  const subject = oneLine(suspendedSubject(credential))
  const who = isKey ? `API key ${subject}` : `application ${subject}`
  const remedy = isKey
    ? 'If you do not know these requests, have the key revoked and make a new one.'
    : 'If you do not know these requests, withdraw the access of the application.'
  return {
    subject: `Your ${who} is suspended until ${inUtc(endOfSecond(until))}`,
    text: letter([
      `your ${who} sent so many requests over its limits that it is suspended: ${isKey ? 'the key' : 'everything that the application sends for you'} is refused for a while.`,
      facts([
        [isKey ? 'API key' : 'Application', subject],
        ['Suspended since', inUtc(since)],
        ['Suspended until', inUtc(endOfSecond(until))],
      ]),
      'Until then every request is answered with 429 RATE_LIMIT_EXCEEDED. The suspension ends by itself; nothing has to be done for that. Orders and positions that exist are not touched by it.',
      'What to do: let your program wait after a 429 for as many seconds as the header Retry-After says. Requests that do not wait count as further refusals, and ten of them within five minutes lead to a suspension again.',
      remedy,
    ]),
  }
}

const webhookDisabledText = ({
  webhookId,
  url,
  at,
  recoverSince,
}: WebhookDisabledNotice): NoticeText => {
  const id = oneLine(webhookId)
  return {
    subject: `Your webhook ${id} is disabled`,
    text: letter([
      'five attempts in a row to deliver to your webhook failed, so it is disabled: no more events are sent to it.',
      facts([
        ['Webhook', id],
        ['Host', URL.parse(url)?.host || 'unknown'],
        ['Disabled at', inUtc(at)],
        ['Disabled until', 'you enable it again'],
      ]),
      `What to do: GET /api/v1/webhooks/${id}/deliveries lists the deliveries that failed and why. Once the receiver answers with a 2xx status within 30 seconds, which POST /api/v1/webhooks/${id}/test tries out, enable the webhook by PUT /api/v1/webhooks/${id} with {"enabled": true}.`,
      `Events that it missed are not sent by themselves. Once it is enabled, POST /api/v1/webhooks/${id}/recover with {"since": "${toIso(recoverSince)}"} delivers them again.`,
    ]),
  }
}

const letter = (paragraphs: readonly string[]): string =>
  `${['Hello,', ...paragraphs, 'Tradeport'].join('\n\n')}\n`

const facts = (rows: readonly (readonly [name: string, value: string])[]): string =>
  rows.map(([name, value]) => `  ${`${name}:`.padEnd(17)} ${value}`).join('\n')

/** `2026-11-02 12:15:00 UTC` */
const inUtc = (instant: Instant): string =>
  `${toIso(instant).slice(0, -'.000Z'.length).replace('T', ' ')} UTC`

// An end is never reported too early.
const endOfSecond = (instant: Instant): Instant => Math.ceil(instant / secondMs) * secondMs

// Names are given by operators, hosts by callers: whatever they hold, they make no line of their
// own.
const oneLine = (text: string): string =>
  text.replaceAll(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
