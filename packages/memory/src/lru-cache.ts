// Drops the least recently used values.
import { LRUCache } from 'lru-cache'

/**
 * The bound is one of the weight: given a bound of the number of entries, the library allocates
 * memory for all of them at once, some 20 MB for our caches.
 */
export const createLruCache = <Key extends {}, Value extends {}>(
  maxWeight: number,
  weigh: (value: Value) => number = () => 1,
  options: Pick<
    LRUCache.Options<Key, Value, unknown>,
    'ttlAutopurge' | 'ttlResolution' | 'perf'
  > = {},
): LRUCache<Key, Value> => new LRUCache({ ...options, maxSize: maxWeight, sizeCalculation: weigh })
