// Whether a test's service is one instance with everything embedded, or two on shared servers: said once, before the tests that are to run so.

export type Topology = 'one instance' | 'two instances'

let chosen: Topology = 'one instance'

export const chooseTopology = (topology: Topology): void => {
  chosen = topology
}

export const chosenTopology = (): Topology => chosen
