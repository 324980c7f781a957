import { useLang } from '../i18n'
import type { Training } from '../state'
import { Slider } from '../ui/slider'
import { precisions } from './form'
import type { Answer } from './page'

/** Formats is the slider of precisions: those that the machine has, marked where the best plan's bound or the lead changes. */
export function Formats({ s, answer, leads, faded, hintsOf, move }: { s: Training; answer: Answer; leads: Record<string, string>; faded: boolean; hintsOf: (hints: string[]) => string[]; move: (c: Partial<Training>) => void }) {
  const { t } = useLang()
  const known = answer.doc.precisions ?? []
  const stops = precisions.filter((p) => p === s.precision || known.some((x) => x.precision === p))
  // Where none of the listed plans fits there is no bound to tell of.
  const bound = (p: string) => (leads[p] === '' ? undefined : known.find((x) => x.precision === p)?.bound)
  const asked = answer.asked.precision
  const differ = <T,>(of: (p: string) => T | undefined, a: string, b: string) => of(a) !== undefined && of(b) !== undefined && of(a) !== of(b)
  const turns = stops.slice(1).flatMap((p, i) => (differ(bound, p, stops[i]!) || differ((x) => leads[x], p, stops[i]!) ? [i + 0.5] : []))
  // Precisions at which the same is told are told together.
  const tell = <T,>(of: (p: string) => T | undefined, say: (formats: string, what: T) => string) => {
    const apart = stops.filter((p) => differ(of, p, asked))
    return [...new Set(apart.map((p) => of(p)!))].map((what) => say(apart.filter((p) => of(p) === what).join(', '), what))
  }
  const told = [...tell(bound, (p, b) => t.walls.format(p, t.bound(b))), ...tell((p) => leads[p], t.walls.lead)]
  // Which plan leads at each precision comes after the verdict: until then nothing is said of it.
  const heard = (answer.doc.plans?.length ?? 0) < 2 || known.every((x) => leads[x.precision] !== undefined)
  return (
    <Slider
      id="wall-precision"
      label={t.ask.precision}
      value={Math.max(0, stops.indexOf(s.precision))}
      min={0}
      max={stops.length - 1}
      step={1}
      text={s.precision}
      marks={turns}
      faded={faded}
      hints={hintsOf(told.length ? told : known.length > 1 && heard ? [t.walls.noFormat] : [])}
      onInput={(v) => move({ precision: stops[v]! })}
    />
  )
}
