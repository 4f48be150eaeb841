// The journeys once more over two instances, but for those that trade.
import { describe, expect, it } from 'vitest'
import { isAboutTrading, leftOut, runOverTwoInstances, suites } from './support/over-two-instances.ts'

describe('what is left out', () => {
  it.each(Object.keys(leftOut))('is there: %s', (name) => {
    expect(suites).toContain(name)
  })
})

runOverTwoInstances((suite) => !isAboutTrading(suite))
