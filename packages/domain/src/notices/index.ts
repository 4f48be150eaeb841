// Notices to owners by mail.
export { noticeKey, type OwnerNotice, type SuspensionNotice } from './owner-notice.ts'
