// Which refusals a route can answer: those of its use case, which it has to name, and those that follow from its door and from what it takes.
import type { Refusal } from '@tradeport/domain'
import type { Access } from '../access/doors.ts'
import type { PathParameter, QueryParameter } from '../requests/parameter.ts'

export type RefusalTag = Refusal['_tag']

export type RefusalOf<T extends RefusalTag> = Extract<Refusal, { readonly _tag: T }>

/** Nothing, where every tag is one of these refusals'; else a field that no record has, named for what is wrong. */
export type NoneLeft<T extends RefusalTag, F extends Refusal> = [Exclude<T, F['_tag']>] extends [never]
  ? unknown
  : { readonly refusalsThatCannotBe: Exclude<T, F['_tag']> }

/** What every route that reads a broker can be refused for. */
export const brokerReadRefusals = ['UnsupportedBroker', 'NotProvisioned', 'BrokerUnavailable', 'BrokerRateLimited'] as const

/** What every route that changes a position can be refused for. */
export const positionChangeRefusals = [
  ...brokerReadRefusals,
  'AccountPurposeRestricted',
  'LiveAccountRestricted',
  'PositionNotFound',
  'TradeRejected',
  'BrokerOutcomeUnknown',
  'InternalTimeout',
  'ServiceUnavailable',
] as const

export const doorRefusals = ({ kind }: Access): readonly RefusalTag[] => {
  switch (kind) {
    case 'public':
      return ['RateLimitExceeded', 'InternalError']
    case 'scoped':
      return ['Unauthorized', 'RateLimitExceeded', 'InsufficientScope', 'ServiceUnavailable', 'InternalError']
    case 'operator':
      return ['Unauthorized', 'InternalError']
  }
}

/** What follows from the kinds of what a route takes. */
export const refusalsOfInputs = (
  params: Readonly<Record<string, PathParameter<unknown>>>,
  query: Readonly<Record<string, QueryParameter<unknown>>>,
  headers: Readonly<Record<string, QueryParameter<unknown>>>,
  body: unknown,
): readonly RefusalTag[] => {
  const ofPath = Object.values(params)
    .filter(({ takesAll }) => takesAll !== true)
    .map(({ refusal }) => refusal?._tag ?? 'ValidationError')
  // One that is sent twice is a fault, whatever it takes.
  const hasOthers = Object.keys(query).length + Object.keys(headers).length > 0
  return [...ofPath, ...(hasOthers ? invalid : []), ...(body === undefined ? [] : [...invalid, 'PayloadTooLarge' as const])]
}

const invalid = ['ValidationError'] as const
