// The domain's rule of limits as a script, so that Redis decides each request in one step for all
// instances. The state of a subject is a hash of whole numbers, which expires when every limit is
// full again.
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  endpointBucket,
  minuteBucket,
  programOf,
  refusalWindowMs,
  suspendingRefusals,
  suspensionMs,
  tiers,
  type EndpointLimit,
  type RateDecision,
  type RateOutcome,
  type RateState,
  type RateSubject,
} from '@tradeport/domain/access'
import type { Instant } from '@tradeport/domain/primitives'

/** `redis`: the server's clock, the same for all instances. `caller`: the time of each request. */
export type ScriptClock = 'redis' | 'caller'

export interface ScriptOptions {
  /** The beginning of every key. */
  readonly prefix: string
  readonly clock: ScriptClock
}

export interface SharedDecision extends RateDecision {
  /** The time of the decision by the script's clock, as all times of the state. */
  readonly now: Instant
  /** A random id of the stored state: another one once the state was lost or has expired. */
  readonly generation: string
}

/**
 * The returned state contains only the bucket of this endpoint.
 * @param carried this instance's state, by the clock of `now`; of it and that of Redis the stricter
 * applies
 * @param generation of the decision that gave `carried`: then `carried` is only sent where Redis no
 * longer has that generation; without it, always
 */
export type DecideInRedis = (
  subject: RateSubject,
  endpoint: EndpointLimit | undefined,
  now: Instant,
  carried?: RateState,
  generation?: string,
) => Promise<SharedDecision>

/** The answer, instead of a decision, where Redis does not have the expected generation. */
const lost = 'lost'

// Mirrors `decideRate` and its functions; a property compares the two.
const lua = `
local generation = redis.call('HGET', KEYS[1], 'generation')
if ARGV[10] ~= '' and generation ~= ARGV[10] then return { '${lost}' } end
generation = generation or ARGV[11]
local callerNow, minuteSize, minuteInterval, perDay = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local route, endpointSize, endpointInterval = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local now = callerNow
if ARGV[1] == 'redis' then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function numbersIn(text)
  local numbers = {}
  for number in string.gmatch(text, '%S+') do numbers[#numbers + 1] = tonumber(number) end
  return numbers
end

local function keptState()
  local state = { at = 0, minute = 0, day = 0, count = 0, suspended = 0, refusals = {}, endpoints = {} }
  local fields = redis.call('HGETALL', KEYS[1])
  for index = 1, #fields, 2 do
    local name, value = fields[index], fields[index + 1]
    if name == 'refusals' then state.refusals = numbersIn(value)
    elseif string.sub(name, 1, 9) == 'endpoint ' then state.endpoints[string.sub(name, 10)] = tonumber(value)
    elseif name ~= 'generation' then state[name] = tonumber(value) end
  end
  return state
end

local function moveBy(state, by)
  state.at, state.minute, state.suspended = state.at + by, state.minute + by, state.suspended + by
  for index, refusedAt in ipairs(state.refusals) do state.refusals[index] = refusedAt + by end
  for name, fullAt in pairs(state.endpoints) do state.endpoints[name] = fullAt + by end
end

local function catchUp(state)
  if now < state.at then moveBy(state, now - state.at) end
  local today = math.floor(now / 86400000)
  if today > state.day then state.count = 0 end
  state.day = today
end

local function recent(refusals)
  local kept = {}
  for _, refusedAt in ipairs(refusals) do
    if refusedAt > now - ${refusalWindowMs} then kept[#kept + 1] = refusedAt end
  end
  return kept
end

local function makeStricter(state, other)
  for name, fullAt in pairs(other.endpoints) do state.endpoints[name] = math.max(fullAt, state.endpoints[name] or 0) end
  state.minute, state.suspended = math.max(state.minute, other.minute), math.max(state.suspended, other.suspended)
  if other.day >= state.day then state.count = math.max(state.count, other.count) end
  local mine, theirs = recent(state.refusals), recent(other.refusals)
  if #theirs > #mine then state.refusals = theirs else state.refusals = mine end
end

local function wait(size, interval, fullAt)
  return math.max(0, math.max(fullAt, now) - now - (size - 1) * interval)
end

local state = keptState()
catchUp(state)
if ARGV[9] ~= '' then
  local carried = cjson.decode(ARGV[9])
  moveBy(carried, now - callerNow)
  makeStricter(state, carried)
end

local outcome
if now < state.suspended then
  outcome = 'suspended'
elseif wait(minuteSize, minuteInterval, state.minute) > 0 or state.count >= perDay
    or (route ~= '' and wait(endpointSize, endpointInterval, state.endpoints[route] or now) > 0) then
  outcome = 'refused'
  state.refusals = recent(state.refusals)
  state.refusals[#state.refusals + 1] = now
  if #state.refusals >= ${suspendingRefusals} then
    outcome = 'suspension_began'
    state.refusals, state.suspended = {}, now + ${suspensionMs}
  end
else
  outcome = 'admitted'
  state.minute = math.max(state.minute, now) + minuteInterval
  state.count = state.count + 1
  if route ~= '' then state.endpoints[route] = math.max(state.endpoints[route] or now, now) + endpointInterval end
end

local function text(number) return string.format('%.0f', number) end
local refusals = {}
for index, refusedAt in ipairs(state.refusals) do refusals[index] = text(refusedAt) end
refusals = table.concat(refusals, ' ')
local fields = { 'generation', generation, 'at', text(now), 'minute', text(state.minute), 'day', text(state.day), 'count', text(state.count),
  'suspended', text(state.suspended), 'refusals', refusals }
local ends = math.max(state.minute, state.suspended)
if state.count > 0 then ends = math.max(ends, (state.day + 1) * 86400000) end
if #state.refusals > 0 then ends = math.max(ends, state.refusals[#state.refusals] + ${refusalWindowMs}) end
for name, fullAt in pairs(state.endpoints) do
  fields[#fields + 1], fields[#fields + 2] = 'endpoint ' .. name, text(fullAt)
  ends = math.max(ends, fullAt)
end
redis.call('HSET', KEYS[1], unpack(fields))
redis.call('PEXPIRE', KEYS[1], text(math.max(1, ends - now)))
return { outcome, text(now), text(state.minute), text(state.day), text(state.count), text(state.suspended), refusals,
  text(route ~= '' and state.endpoints[route] or 0), generation }
`

type Command = (key: string, ...args: readonly (string | number)[]) => Promise<readonly string[]>

/** Defines the script on the connection, which answers in order. */
export const defineDecision = (redis: Redis, { prefix, clock }: ScriptOptions): DecideInRedis => {
  redis.defineCommand('decideRate', { numberOfKeys: 1, lua })
  // The type of ioredis has no commands that are defined later.
  const command = (redis as unknown as { readonly decideRate: Command }).decideRate.bind(redis)
  return async (subject, endpoint, now, carried, generation = '') => {
    const minute = minuteBucket(subject.plan)
    const own = endpoint === undefined ? undefined : endpointBucket(endpoint)
    const ask = (sent: string, expected = '') =>
      command(
        prefix + programOf(subject),
        clock,
        now,
        minute.size,
        minute.intervalMs,
        tiers[subject.plan].requestsPerDay,
        endpoint?.route ?? '',
        own?.size ?? 0,
        own?.intervalMs ?? 0,
        sent,
        expected,
        randomUUID(),
      )
    if (carried === undefined) return readReply(await ask(''), endpoint)
    const reply = generation === '' ? [lost] : await ask('', generation)
    const isLost = reply[0] === lost
    return readReply(isLost ? await ask(JSON.stringify(toSent(carried))) : reply, endpoint)
  }
}

const toSent = ({
  at,
  minuteFullAt,
  day,
  dayCount,
  endpoints,
  refusals,
  suspendedUntil,
}: RateState): object => ({
  at,
  minute: minuteFullAt,
  day,
  count: dayCount,
  suspended: suspendedUntil,
  refusals,
  endpoints,
})

const readReply = (
  reply: readonly string[],
  endpoint: EndpointLimit | undefined,
): SharedDecision => {
  const [outcome, now, minuteFullAt, day, dayCount, suspendedUntil, refusals = ''] = reply
  const [endpointFullAt, generation = ''] = reply.slice(7)
  return {
    outcome: outcome as RateOutcome,
    now: Number(now),
    generation,
    state: {
      at: Number(now),
      minuteFullAt: Number(minuteFullAt),
      day: Number(day),
      dayCount: Number(dayCount),
      endpoints:
        endpoint === undefined || endpointFullAt === '0'
          ? {}
          : { [endpoint.route]: Number(endpointFullAt) },
      refusals: refusals === '' ? [] : refusals.split(' ').map(Number),
      suspendedUntil: Number(suspendedUntil),
    },
  }
}
