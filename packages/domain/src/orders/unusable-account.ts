// Why an order that was accepted can no longer be sent to its account.
import type { Refusal } from '../errors.ts'
import type { RejectReason } from './order.ts'

/** The account is linked to another broker account than when the order was made. */
export interface AccountRelinked {
  readonly _tag: 'AccountRelinked'
}

/** Why no order can be sent to an account. */
export type UnusableAccountTag =
  | 'AccountNotFound'
  | 'AccountPurposeRestricted'
  | 'LiveAccountRestricted'
  | 'AccountHalted'
  | 'UnsupportedBroker'
  | 'NotProvisioned'

/** Why an order can no longer be sent to its account, found when it was about to be sent. */
export type UnusableAccount = Refusal<UnusableAccountTag> | AccountRelinked

const unusableReasons: Readonly<Record<UnusableAccount['_tag'], RejectReason>> = {
  AccountNotFound: {
    code: 'ACCOUNT_NOT_FOUND',
    message: 'The account is no longer linked; the order was not sent.',
  },
  AccountPurposeRestricted: {
    code: 'ACCOUNT_PURPOSE_RESTRICTED',
    message: 'The account is no longer for trading; the order was not sent.',
  },
  AccountRelinked: {
    code: 'ACCOUNT_RELINKED',
    message: 'The account was linked to another broker account; the order was not sent.',
  },
  LiveAccountRestricted: {
    code: 'LIVE_ACCOUNT_RESTRICTED',
    message:
      'The broker does not confirm that this is a demo account; the order was not sent. Link a demo account to trade.',
  },
  AccountHalted: {
    code: 'ACCOUNT_HALTED',
    message: 'The account was halted; the order was not sent.',
  },
  UnsupportedBroker: {
    code: 'UNSUPPORTED_BROKER',
    message: 'The account is now on a platform that is not supported; the order was not sent.',
  },
  NotProvisioned: {
    code: 'NOT_PROVISIONED',
    message: 'The account is no longer connected to the provider; the order was not sent.',
  },
}

export const unusableReason = ({ _tag }: UnusableAccount): RejectReason => unusableReasons[_tag]
