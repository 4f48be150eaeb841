// The fixed list of instruments.
export { instrumentTypes, instruments } from './instruments.ts'
