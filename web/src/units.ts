// Quantities as people read them: SI in, text with its unit out, in the
// reader's number format. Nothing here decides what a quantity is.

export type Format = ReturnType<typeof formats>

/** steps chooses a unit: the first whose threshold the value reaches, in units of its size. */
const steps = (units: [number, string, number?][]) => (v: number): [number, string] => {
  for (const [size, unit, from = size] of units) if (Math.abs(v) >= from) return [v / size, unit]
  const last = units[units.length - 1]!
  return [v / last[0], last[1]]
}

/** Below this a quantity is the rounding of a sum, whatever its unit. */
const tiny = 1e-12

// Steps of minutes are compared with steps of seconds: the second stays up to ten minutes.
const time = steps([[86400, 'd', 172_800], [3600, 'h', 7200], [60, 'min', 600], [1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']])
const decimal = (unit: string) =>
  steps([[1e18, 'E' + unit], [1e15, 'P' + unit], [1e12, 'T' + unit], [1e9, 'G' + unit], [1e6, 'M' + unit], [1e3, 'k' + unit], [1, unit]])
const byteStep = decimal('B')
const flopStep = decimal('FLOP')
const countStep = steps([[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1e3, 'k'], [1, '']])

/** formats of one language; a missing value is a dash. */
export function formats(lang: string) {
  const digits = new Intl.NumberFormat(lang, { maximumSignificantDigits: 4 })
  const four = new Intl.NumberFormat(lang, { minimumSignificantDigits: 4, maximumSignificantDigits: 4 })
  const three = new Intl.NumberFormat(lang, { maximumSignificantDigits: 3 })
  const tenth = new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const change = new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: 'exceptZero' })
  const whole = new Intl.NumberFormat(lang, { maximumFractionDigits: 0 })
  const usd = (least = 1) => new Intl.NumberFormat(lang, { style: 'currency', currency: 'USD', minimumSignificantDigits: least, maximumSignificantDigits: 4 })
  const num = (v: number) => (Math.abs(v) >= 1000 ? whole.format(v) : digits.format(v))
  const alike = (v: number) => (Math.abs(v) >= 1000 ? whole.format(v) : v === 0 ? '0' : four.format(v))
  const made = (step: (v: number) => [number, string], suffix = '', write = num) => (v: number | null | undefined) => {
    if (v == null || !Number.isFinite(v)) return '–'
    if (Math.abs(v) < tiny) return '0\u00a0' + step(1)[1] + suffix
    const [x, unit] = step(v)
    return (write(x) + '\u00a0' + unit + suffix).trim()
  }
  const orDash = (text: (v: number) => string) => (v: number | null | undefined) => (v == null || !Number.isFinite(v) ? '–' : text(v))
  return {
    seconds: made(time),
    /** secondsUpTo is for the marks of an axis that ends at top: all in one unit, whose multiples they are. */
    secondsUpTo: (top: number) => (v: number) => {
      const [size, unit] = top >= 1 ? [1, 's'] : time(top)[1] === 'ms' ? [1e-3, 'ms'] : [1e-6, 'µs']
      return num(v / (size as number)) + '\u00a0' + unit
    },
    /** secondsLike is for figures beside another: in its unit. */
    secondsLike: (beside: number) => (v: number) => {
      const [x, unit] = time(beside)
      return alike((v * x) / beside) + '\u00a0' + unit
    },
    /** even is for columns: as many digits in every row. */
    even: { seconds: made(time, '', alike), bytes: made(byteStep, '', alike), rate: made(byteStep, '/s', alike), flopRate: made(flopStep, '/s', alike), num: orDash(alike), usd: orDash(usd(4).format) },
    bytes: made(byteStep),
    rate: made(byteStep, '/s'),
    flops: made(flopStep),
    flopRate: made(flopStep, '/s'),
    count: orDash((v) => made(countStep)(v).replace('\u00a0', ' ').trim()),
    int: orDash(whole.format),
    num: orDash(num),
    percent: orDash((v) => tenth.format(v * 100) + '\u00a0%'),
    /** signed is a change: +2.5 %, -1.0 %, or 0.0 % of what rounds to none. */
    signed: orDash((v) => change.format(v * 100) + '\u00a0%'),
    ratio: (v: number) => three.format(v),
    usd: orDash(usd().format),
  }
}
