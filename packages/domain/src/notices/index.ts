// Notices to owners by mail.
export {
  noticeKey,
  type OwnerNotice,
  type SuspensionNotice,
  type WebhookDisabledNotice,
} from './owner-notice.ts'
