// Numbers that are kept elsewhere and looked up when somebody asks for the metrics, so that keeping
// them costs nothing here.
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

export type Labels = Readonly<Record<string, string>>

/** A value under its labels. */
export type Reading = readonly [labels: Labels, value: number]

export interface Described {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
}

/** @param read totals that only grow while the process lives */
export const collectCounter = (
  registry: Registry,
  described: Described,
  read: () => readonly Reading[],
): void => {
  // It registers itself.
  void new Counter({
    ...described,
    labelNames: [...(described.labelNames ?? [])],
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of read()) this.inc(labels, value)
    },
  })
}

/** What is not in a reading is not told: no number is better than a wrong one. */
export const collectGauge = (
  registry: Registry,
  described: Described,
  read: () => readonly Reading[] | Promise<readonly Reading[]>,
): void => {
  void new Gauge({
    ...described,
    labelNames: [...(described.labelNames ?? [])],
    registers: [registry],
    async collect() {
      const readings = await read()
      this.reset()
      // A gauge without labels begins at 0.
      if (readings.length === 0) this.remove({})
      for (const [labels, value] of readings) this.set(labels, value)
    },
  })
}
