// Figures and times as text, in the user's language and zone.

const formats = new Map<string, Intl.NumberFormat>()

const numberFormat = (options: Intl.NumberFormatOptions): Intl.NumberFormat => {
  const name = JSON.stringify(options)
  const format = formats.get(name) ?? new Intl.NumberFormat(undefined, options)
  formats.set(name, format)
  return format
}

const currencies = new Set(Intl.supportedValuesOf('currency'))

/**
 * An amount in a currency, with the currency's decimals; without one (several accounts) only the
 * figure.
 */
export const money = (
  amount: number,
  currency: string | undefined,
  signDisplay: 'negative' | 'exceptZero' = 'negative',
): string => {
  if (currencies.has(currency ?? ''))
    return numberFormat({ style: 'currency', currency, signDisplay }).format(amount)
  // Accounts in cents (USC) have two decimals; BTC and the like may need eight.
  const hasTwoDecimals = currency === undefined || /^(US|EU|GB)C$|cent/i.test(currency)
  const maximumFractionDigits = hasTwoDecimals ? 2 : 8
  const digits = { minimumFractionDigits: 2, maximumFractionDigits, signDisplay }
  return `${numberFormat(digits).format(amount)} ${currency ?? ''}`.trim()
}

/** An amount that was gained or lost, with its sign. */
export const result = (amount: number, currency: string | undefined): string =>
  money(amount, currency, 'exceptZero')

/**
 * The sum of a figure of several things, without the binary residue that would show as a gain or a
 * loss.
 */
export const sumOf = <A>(things: readonly A[], figure: (thing: A) => number): number =>
  Number(things.reduce((sum, thing) => sum + figure(thing), 0).toFixed(8))

export const number = (value: number, maximumFractionDigits = 2): string =>
  numberFormat({ maximumFractionDigits, signDisplay: 'negative' }).format(value)

const fractionDigits = (size: number): number => {
  if (size < 10) return 2
  return size >= 100 && size < 1_000 ? 0 : 1
}

/** An amount in few letters, such as 1.2K, for labels in charts. */
export const compact = (amount: number, signDisplay: 'auto' | 'exceptZero' = 'auto'): string =>
  numberFormat({
    notation: 'compact',
    // In an account in BTC, 0.01 is much.
    ...(Math.abs(amount) < 0.1
      ? { maximumSignificantDigits: 2 }
      : { maximumFractionDigits: fractionDigits(Math.abs(amount)) }),
    signDisplay,
  }).format(amount)

/** The labels of an axis, with as many digits as tell them apart. */
export const axisLabels = (ticks: readonly number[]): readonly string[] => {
  const labels = ticks.map((tick) => compact(tick))
  return new Set(labels).size === labels.length ? labels : ticks.map((tick) => number(tick, 8))
}

/** A price; those that are weighted by volume may have more digits than the broker quotes. */
export const price = (value: number): string =>
  numberFormat({
    minimumFractionDigits: 2,
    maximumFractionDigits: Math.abs(value) < 1 ? 8 : 5,
  }).format(value)

/** A price with the broker's decimals. */
export const priceFormat =
  (digits: number) =>
  (value: number): string =>
    numberFormat({ minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value)

/** The decimals that lots may have, so that a point in 0.125 separates no thousands. */
export const lotDigits = 3

/** Lots, with at least the usual two decimals. */
export const lots = (value: number): string =>
  numberFormat({ minimumFractionDigits: 2, maximumFractionDigits: 8 }).format(value)

/** Whether the user's language writes 65 thousand as 65.000. */
const hasGroupPoint = numberFormat({}).format(65_000).includes('.')

/**
 * 65,000 as typed: thousands, or decimals after a comma; and 65.000 where the user writes
 * thousands so.
 * @param digits how many decimals are usual, which may be three; 0 where that is not known
 */
export const isAmbiguous = (text: string, digits = 0, isGroupPoint = hasGroupPoint): boolean => {
  const mark = /^[1-9]\d{0,2}([.,])\d{3}$/.exec(text.trim())?.[1]
  return mark === ',' || (mark === '.' && isGroupPoint && digits !== 3)
}

/** Undefined where nothing is typed, NaN where it is no number. A comma may separate decimals. */
export const parseTyped = (text: string, digits?: number): number | undefined => {
  const typed = text.trim()
  if (typed === '') return undefined
  return /^(\d+[.,]?\d*|[.,]\d+)$/.test(typed) && !isAmbiguous(typed, digits)
    ? Number(typed.replace(',', '.'))
    : NaN
}

/**
 * The largest number of decimals among the values. Of many prices, these are the broker's decimals.
 */
export const decimalsOf = (values: readonly number[]): number =>
  Math.max(
    0,
    ...values.map((value) => {
      // A small one is text such as 5.5e-7.
      const [digits = '', exponent = '0'] = String(value).split('e')
      return (digits.split('.')[1]?.length ?? 0) - Number(exponent)
    }),
  )

export const percent = (value: number, digits = 1): string =>
  `${numberFormat({ minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value)} %`

const timeFormat = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat(undefined, options)
  /** @param at ISO 8601, or epoch milliseconds */
  return (at: string | number): string => format.format(new Date(at))
}

const secondOfToday = timeFormat({ timeStyle: 'medium' })
export const localSecond = timeFormat({ dateStyle: 'medium', timeStyle: 'medium' })
export const localMinute = timeFormat({ dateStyle: 'medium', timeStyle: 'short' })
export const localTimeOfDay = timeFormat({ timeStyle: 'short' })
export const localDay = timeFormat({ dateStyle: 'medium' })

/** @param day 1 is a Monday, as the fifth of January 2026 was */
export const weekdayName = (day: number | string, weekday: 'long' | 'short'): string =>
  new Intl.DateTimeFormat(undefined, { weekday }).format(new Date(2026, 0, 4 + Number(day)))

/** Without the day where that is today. */
export const localTime = (at: string | number): string =>
  new Date(at).toDateString() === new Date().toDateString() ? secondOfToday(at) : localSecond(at)

/** The user's time zone. */
export const userZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** When a day of the user's zone starts or ends, as ISO 8601; undefined where it is no day. */
export const momentOf = (day: string, edge: 'start' | 'end'): string | undefined => {
  const at = new Date(`${day}T00:00`)
  // February 30th is read as March 2nd.
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || at.getDate() !== Number(day.slice(-2))) return undefined
  // The last minute of a day comes twice where clocks are set back at midnight.
  return new Date(edge === 'start' ? at : at.setHours(24, 0, 0, 0) - 1).toISOString()
}

export const utcTime = (iso: string): string => `${iso.replace('T', ' ').replace('Z', '')} UTC`

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** Whole seconds in the two largest units: 3 h 12 min. */
export const duration = (seconds: number): string => {
  // As of a trade whose times are broken at the broker.
  if (seconds < 0) return `−${duration(-seconds)}`
  const start = units.findIndex(([, length]) => seconds >= length)
  if (start < 0) return '0 s'
  let rest = seconds
  return units
    .slice(start, start + 2)
    .map(([unit, length]) => {
      const count = Math.floor(rest / length)
      rest -= count * length
      return count === 0 ? '' : `${count} ${unit}`
    })
    .filter((part) => part !== '')
    .join(' ')
}

/** @param from and `to` are ISO 8601 */
export const timeBetween = (from: string, to: string): string =>
  duration(Math.floor((Date.parse(to) - Date.parse(from)) / 1_000))

let aheadMs = 0
/** Since when the page measures time, by the service's clock. */
let measuredSince = Date.now() - performance.now()

/**
 * Compares the user's clock with the time of a reply, which was written between `askedAt` and now.
 * Of the differences that this allows, the smallest is taken.
 * @param askedAt by the user's clock
 */
export const compareClocks = (askedAt: number, repliedAt: string): void => {
  const time = Date.parse(repliedAt)
  aheadMs = Math.min(Math.max(0, askedAt - time), Date.now() - time)
  measuredSince = Date.now() - aheadMs - performance.now()
}

/**
 * By the service's clock, in epoch milliseconds. The user's clock may be set back, and the measured
 * time stands still while the machine sleeps: the later of the two counts.
 */
export const serviceNow = (): number =>
  Math.max(Date.now() - aheadMs, measuredSince + performance.now())

export const ago = (iso: string): string => {
  const seconds = Math.max(0, Math.floor((serviceNow() - Date.parse(iso)) / 1_000))
  return seconds < 5
    ? 'just now'
    : `${duration(seconds < 60 ? seconds : seconds - (seconds % 60))} ago`
}

/** With a capital first letter. */
export const capitalised = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** 1 event, 2 events. */
export const plural = (count: number, one: string): string =>
  `${number(count)} ${one}${count === 1 ? '' : 's'}`

/** 1 event is, 2 events are. */
export const pluralIs = (count: number, one: string): string =>
  `${plural(count, one)} ${count === 1 ? 'is' : 'are'}`
