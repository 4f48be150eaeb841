// The Sharpe ratio of trades (2.6, decision 37).
import type { SampleMoments } from './sample-moments.ts'

/** The mean trade over the sample standard deviation, per trade, not annualised; 0 below two trades or without spread. */
export const sharpeRatio = ({ mean, deviation }: SampleMoments): number => (deviation === 0 ? 0 : mean / deviation)
