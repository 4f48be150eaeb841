// The journeys that trade once more over two instances.
import { isAboutTrading, runOverTwoInstances } from './support/over-two-instances.ts'

runOverTwoInstances(isAboutTrading)
