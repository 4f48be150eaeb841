// What the owner of an account is told by mail.
import type { Credential } from '../access/credential.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

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

/**
 * The webhook gets no more: five attempts in a row failed, or its receiver said that it is gone.
 */
export interface WebhookDisabledNotice {
  readonly kind: 'webhook_disabled'
  readonly webhookId: string
  readonly url: string
  readonly at: Instant
  readonly because: 'failures' | 'gone'
}

export type OwnerNotice = SuspensionNotice | WebhookDisabledNotice

/** What is suspended: limits are a key's own, and an application's for each user. */
export const suspendedSubject = ({
  kind,
  id,
  applicationId,
}: SuspensionNotice['credential']): string => (kind === 'access_token' ? (applicationId ?? id) : id)

/**
 * The same text for the same happening, whoever tells of it and however often: a suspension is
 * known by whose and what it is and when it ends, the disabling of a webhook by its moment.
 */
export const noticeKey = ({ tenantId, userId }: Owner, notice: OwnerNotice): string =>
  JSON.stringify([tenantId, userId, notice.kind, ...happening(notice)])

const happening = (notice: OwnerNotice): readonly (string | number)[] => {
  switch (notice.kind) {
    case 'suspended':
      return [notice.credential.kind, suspendedSubject(notice.credential), notice.until]
    case 'webhook_disabled':
      return [notice.webhookId, notice.at]
  }
}
