// What owners are told by mail.
export { noticeKey } from './owner-notice.ts'
export type { OwnerNotice, SuspensionNotice, WebhookDisabledNotice } from './owner-notice.ts'
