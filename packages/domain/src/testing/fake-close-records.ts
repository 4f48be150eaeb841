// Records of closes in memory, as a fake of their ports; they pass the same contract as the database. Jobs that are due by the test's clock are handed
// out as soon as something is written, and when the test says so.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { closeSent } from '../events/close-telling.ts'
import { besideOthers } from '../events/other-closes.ts'
import type { ServiceEvent } from '../events/service-event.ts'
import type { Clock } from '../ports/clock.ts'
import type { CloseJob, CloseJobs, CloseRecords, RecordedClose } from '../ports/close-records.ts'
import { isSameOwner } from '../primitives/ids.ts'
import type { CloseId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

export interface FakeRecordedClose extends Pick<RecordedClose, 'closeId' | 'close' | 'progress' | 'version'> {
  readonly owner: Owner
  readonly dueAt: Instant | null
}

export interface FakeCloseRecords {
  readonly records: CloseRecords
  readonly jobs: CloseJobs
  /** Hands out what is due by the clock. */
  readonly handOut: () => void
  /** All that was ever recorded, as it stands. */
  readonly all: () => readonly FakeRecordedClose[]
}

type Settle = (job: CloseJob) => Promise<void>

/** @param happened records the events of a step */
export const createFakeCloseRecords = (
  happened: (owner: Owner, events: readonly ServiceEvent[]) => void,
  clock: Clock,
): FakeCloseRecords => {
  const stored = new Map<CloseId, FakeRecordedClose>()
  const workers = new Set<Settle>()
  const running = new Map<string, Promise<void>>()
  let lastId = 0

  const own = (owner: Owner, id: CloseId): FakeRecordedClose | undefined => {
    const found = stored.get(id)
    return found !== undefined && isSameOwner(found.owner, owner) ? found : undefined
  }

  const othersOf = ({ owner, close, closeId }: FakeRecordedClose): readonly FakeRecordedClose[] =>
    [...stored.values()].filter(
      (one) => one.closeId !== closeId && isSameOwner(one.owner, owner) && one.close.id.accountId === close.id.accountId,
    )
  const handOutSoon = (): void => void Promise.resolve().then(handOut)
  const handOut = (): void => {
    const [settle] = workers
    if (settle === undefined) return
    for (const { owner, closeId, version, dueAt } of stored.values()) {
      const key = `${closeId}:${version}`
      if (dueAt === null || dueAt > clock.now() || running.has(key)) continue
      // What was not settled is handed out again.
      const end = (): void => {
        running.delete(key)
        if (stored.get(closeId)?.version === version) handOutSoon()
      }
      running.set(key, settle({ owner, closeId, version }).then(end, end))
    }
  }

  return {
    records: {
      record: (owner, close, continueInMs) =>
        TE.fromIO(() => {
          const closeId = `0c000000-0000-4000-8000-${String((lastId += 1)).padStart(12, '0')}` as CloseId
          stored.set(closeId, { owner, closeId, close, progress: closeSent, version: 1, dueAt: clock.now() + continueInMs })
          handOutSoon()
          return O.some(closeId)
        }),
      find: (owner, id) =>
        TE.fromIO(() => {
          const found = own(owner, id)
          if (found === undefined) return O.none
          const { closeId, close, progress, version } = found
          return O.some({ closeId, close, progress, version, ...besideOthers(found, othersOf(found)) })
        }),
      advance: (owner, id, version, { progress, events, continueInMs }) =>
        TE.fromIO(() => {
          const found = own(owner, id)
          if (found === undefined || found.version !== version || found.progress.step === 'ended') return false
          const { toldDeals } = besideOthers(found, othersOf(found))
          if ('deals' in progress && progress.deals.some((deal) => toldDeals.has(deal))) return false
          const dueAt = continueInMs === null ? null : clock.now() + continueInMs
          stored.set(id, { ...found, progress, version: version + 1, dueAt })
          happened(owner, events)
          handOutSoon()
          return true
        }),
    },
    jobs: {
      work: async (settle) => {
        workers.add(settle)
        handOut()
        return {
          stop: async () => {
            workers.delete(settle)
            await Promise.all(running.values())
          },
        }
      },
    },
    handOut,
    all: () => [...stored.values()],
  }
}
