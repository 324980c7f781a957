import type { Speech } from '../i18n'
import type { Level } from './runs'

/** leveled words the load of a bench stage. */
export const leveled =
  ({ t, f }: Speech): Level =>
  (n, rate, mode) =>
    rate > 0 ? t.measured.rate(f.num(rate)) : mode === 'trace' ? t.measured.trace : n > 0 ? t.serving.load(f.int(n)) : t.measured.loadUnstated

/** said is a figure with its unit. */
export function said(x: { unit: string }, v: number | null, { t, f }: Speech): string {
  if (v === null) return '–'
  switch (x.unit) {
    case 's':
      return f.even.seconds(v)
    case 'B/s':
      return f.even.rate(v)
    case 'FLOP/s':
      return f.even.flopRate(v)
    case 'share':
      return f.percent(v)
    case 'count':
      return f.int(v)
    default:
      return `${f.even.num(v)} ${t.measured.units(x.unit)}`
  }
}
