import { useMemo } from 'preact/hooks'
import { post, type Problem } from '../api/client'
import type { BreakEven, ClusterDoc, PlanDoc, SweepDoc } from '../api/types'
import { useFollowing, useLoaded } from '../api/use'
import { useLang } from '../i18n'
import { sliders, type Training } from '../state'
import { Card, Failed } from '../ui/parts'
import { Slider } from '../ui/slider'
import { precisions } from './form'
import type { Answer } from './page'
import { asPriced, price, requestOf, type Priced } from './request'

export interface WallsState {
  plans: Priced[] // the ranked plans under the figures of the moment, in the order of the search
  best: Priced | undefined // the fastest of them that fits
  first: Priced | undefined // the search's best, priced anew
  evens: BreakEven[] // of the search's best
  turns: Turns // where another plan takes the lead
  leads: Record<string, string> // by precision: the number of the plan that leads, '' where none fits
  moved: boolean
  busy: boolean
  error: Problem | undefined
  failed: boolean // the walls stand where nothing can be priced: what is shown is as it was searched
}

/** Turns are the values of each figure at which another of the listed plans takes the lead. */
type Turns = Record<Knob, { at: number; below: string; above: string }[]>
type Knob = 'net' | 'up' | 'hbm' | 'batch'
const knobs: Record<Knob, string> = { net: 'network', up: 'scale-up', hbm: 'hbm', batch: 'batch' }

/** useWalls prices the plans of an answer again whenever a wall moves; nothing is searched. */
export function useWalls(answer: Answer, now: Training): WallsState {
  const ranked = useMemo(() => {
    const doc = answer.doc
    const list = doc.plans?.length ? doc.plans : [doc.best]
    return list.map(asPriced)
  }, [answer])
  const moved = sliders.some((k) => answer.asked[k] !== now[k])
  const key = moved ? JSON.stringify([sliders.map((k) => now[k]), ranked.map((p) => p.text), answer.asked]) : ''
  const loaded = useFollowing(key, (signal) => reprice(ranked, now, signal))
  const flips = useLoaded(JSON.stringify([answer.asked, ranked.map((p) => p.text)]), (signal) => sweep(ranked, answer, signal), 400)
  const failed = moved ? loaded.error : undefined
  const plans = moved && !failed && loaded.value ? loaded.value.plans : ranked
  const best = leading(plans)
  return { plans, best, first: plans[0], evens: answer.doc.break_even ?? [], turns: flips.value?.turns ?? { net: [], up: [], hbm: [], batch: [] }, leads: flips.value?.leads ?? {}, moved, busy: moved && loaded.busy, error: failed ?? flips.error, failed: failed !== undefined }
}

/** sweep asks, figure by figure and precision by precision, which plan leads where. */
async function sweep(plans: Priced[], { asked, doc }: Answer, signal: AbortSignal): Promise<{ turns: Turns; leads: Record<string, string> }> {
  const turns: Turns = { net: [], up: [], hbm: [], batch: [] }
  const leads: Record<string, string> = {}
  if (plans.length < 2) return { turns, leads }
  const { plan: _, ...body } = await requestOf(asked)
  for (const k of Object.keys(knobs) as Knob[]) {
    const found = await post<SweepDoc>('train/sweep', { ...body, sweep: knobs[k], plans: plans.map((p) => p.sent) }, signal)
    const name = (i: number | null) => (i === null ? '' : String(i + 1))
    turns[k] = found.flips.filter((x) => x.best_below !== x.best_above).map((x) => ({ at: x.crossing ?? Math.sqrt(x.low * x.high), below: name(x.best_below), above: name(x.best_above) }))
  }
  for (const { precision } of doc.precisions ?? []) {
    const { plans: list } = await reprice(plans, { ...asked, precision }, signal)
    const best = leading(list)
    leads[precision] = best ? String(list.indexOf(best) + 1) : ''
  }
  return { turns, leads }
}

/** leading is the fastest plan that fits. */
const leading = (plans: Priced[]): Priced | undefined => plans.filter((p) => p.result?.fits).sort((a, b) => a.result!.step_seconds - b.result!.step_seconds)[0]

async function reprice(ranked: Priced[], now: Training, signal: AbortSignal): Promise<{ plans: Priced[] }> {
  const answers = await price(now, ranked.map((p) => p.sent), signal)
  return { plans: ranked.map((p, i) => ({ text: p.text, sent: p.sent, ...answers[i] })) }
}

interface Props {
  answer: Answer
  s: Training
  move: (c: Partial<Training>) => void
  back: () => void
  walls: WallsState
  cluster: ClusterDoc | undefined
}

const figure: Record<'net' | 'up' | 'hbm', string> = { net: 'network', up: 'scale-up link', hbm: 'memory bandwidth' }

/** Walls are the sliders: what if the link, the memory, the batch, the format were other. */
export function Walls({ answer, s, move, back, walls, cluster }: Props) {
  const { t, f } = useLang()
  const batch0 = answer.doc.global_batch
  const batches = useMemo(() => steps(batch0), [batch0])
  const best = walls.best?.result
  const first: PlanDoc | undefined = walls.first?.result
  // The nearest change on either side of today's value; more would bury it.
  const tell = (turns: Turns[Knob], now: number, text: (v: number) => string) => {
    const below = turns.filter((x) => x.at < now).at(-1)
    const above = turns.find((x) => x.at >= now)
    return [below && t.walls.turn(text(below.at), true, below.below), above && t.walls.turn(text(above.at), false, above.above)].filter((x) => x !== undefined)
  }
  // Where a slider flips the verdict was asked with every other one as it was searched.
  const elsewhere = (k: (typeof sliders)[number]) => sliders.some((x) => x !== k && s[x] !== answer.asked[x])
  const hintsOf = (k: (typeof sliders)[number], hints: string[]) => (elsewhere(k) && hints.length ? [t.walls.atSearched, ...hints] : hints)
  const priced = walls.moved && !walls.failed
  const flipped = priced && first !== undefined && first.bound !== answer.doc.best.bound
  const batch = s.batch === answer.asked.batch ? batch0 : Number(s.batch)
  return (
    <Card title={t.walls.title} id="walls" aside={walls.moved ? <button type="button" onClick={back}>{t.walls.reset}</button> : undefined}>
      <p class="note screen">{t.walls.note}</p>
      <div class="sliders">
        {(['net', 'up', 'hbm'] as const).map((k) => {
          const even = walls.evens.find((e) => e.what === figure[k])
          const base = baseOf(k, even, Number(answer.asked[k]), cluster)
          if (!base) return null
          const flip = even?.flip ?? undefined
          const turns = walls.turns[k]
          return (
            <Slider
              key={k}
              id={'wall-' + k}
              label={t.walls[k]}
              value={Math.log2(Number(s[k]) || 1)}
              min={-4}
              max={4}
              step={0.125}
              text={`${f.rate(base * Number(s[k]))}  ×${f.num(Number(s[k]))}`}
              marks={[...(flip ? [flip] : []), ...turns.map((x) => x.at)].map((v) => Math.log2(v / base))}
              faded={elsewhere(k)}
              hints={hintsOf(k, [flip ? t.walls.flip(f.rate(flip), flip < even!.now, t.bound(even!.next_bound ?? '')) : t.walls.noFlip, ...tell(turns, even?.now ?? base, f.rate)])}
              onInput={(v) => move({ [k]: String(Number((2 ** v).toPrecision(4))) })}
            />
          )
        })}
        <Slider
          id="wall-batch"
          label={t.ask.batch}
          value={Math.max(0, batches.indexOf(batch))}
          min={0}
          max={batches.length - 1}
          step={1}
          text={`${f.int(batch)} ${t.unit.sequences}`}
          marks={walls.turns.batch.map((x) => place(batches, x.at))}
          faded={elsewhere('batch')}
          hints={hintsOf('batch', tell(walls.turns.batch, batch0, f.int))}
          onInput={(v) => move({ batch: batches[v] === batch0 ? answer.asked.batch : String(batches[v]) })}
        />
        <Formats s={s} answer={answer} leads={walls.leads} faded={elsewhere('precision')} hintsOf={(h) => hintsOf('precision', h)} move={move} />
      </div>
      {walls.error && <Failed error={walls.error} />}
      <p class={'flipverdict' + (flipped ? ' flipped' : '')} role="status" aria-live="polite" id="walls-verdict" aria-busy={walls.busy ? 'true' : undefined}>
        {!walls.moved && t.walls.asSearched}
        {walls.failed && t.walls.failed}
        {priced && !best && t.walls.nothing}
        {priced && best && t.walls.verdict(f.seconds(best.step_seconds), t.bound(best.bound), best.step_seconds / answer.doc.best.step_seconds, walls.best !== walls.first ? String(walls.plans.indexOf(walls.best!) + 1) : '', f)}
        {flipped && ' ' + t.walls.flipped(t.bound(answer.doc.best.bound), t.bound(first.bound))}
      </p>
    </Card>
  )
}

/** Formats is the slider of precisions: those that the machine has, marked where the best plan's bound or the lead changes. */
function Formats({ s, answer, leads, faded, hintsOf, move }: { s: Training; answer: Answer; leads: Record<string, string>; faded: boolean; hintsOf: (hints: string[]) => string[]; move: (c: Partial<Training>) => void }) {
  const { t } = useLang()
  const known = answer.doc.precisions ?? []
  const stops = precisions.filter((p) => p === s.precision || known.some((x) => x.precision === p))
  const bound = (p: string) => known.find((x) => x.precision === p)?.bound
  const asked = answer.asked.precision
  const differ = <T,>(of: (p: string) => T | undefined, a: string, b: string) => of(a) !== undefined && of(b) !== undefined && of(a) !== of(b)
  const turns = stops.slice(1).flatMap((p, i) => (differ(bound, p, stops[i]!) || differ((x) => leads[x], p, stops[i]!) ? [i + 0.5] : []))
  // Precisions at which the same is told are told together.
  const tell = <T,>(of: (p: string) => T | undefined, say: (formats: string, what: T) => string) => {
    const apart = stops.filter((p) => differ(of, p, asked))
    return [...new Set(apart.map((p) => of(p)!))].map((what) => say(apart.filter((p) => of(p) === what).join(', '), what))
  }
  const told = [...tell(bound, (p, b) => t.walls.format(p, t.bound(b))), ...tell((p) => leads[p], t.walls.lead)]
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
      hints={hintsOf(told.length ? told : known.length > 1 ? [t.walls.noFormat] : [])}
      onInput={(v) => move({ precision: stops[v]! })}
    />
  )
}

/** baseOf is a figure of the machine as it is catalogued, B/s: what was achieved, else the datasheet's. */
function baseOf(k: 'net' | 'up' | 'hbm', even: BreakEven | undefined, factor: number, c: ClusterDoc | undefined): number | undefined {
  if (even) return even.now / (factor || 1)
  const name = { net: 'NIC', up: 'scale-up link', hbm: 'memory bandwidth' }[k]
  const fig = c?.device.figures.find((x) => x.name === name)
  if (k === 'net' && c && c.nodes < 2) return undefined
  return fig?.achieved?.value ?? fig?.peak?.value
}

/** place of a value among the steps of a slider, between two of them where it lies between. */
function place(list: number[], v: number): number {
  const i = list.findIndex((x) => x >= v)
  if (i <= 0) return i < 0 ? list.length : 0
  return i - 1 + Math.log(v / list[i - 1]!) / Math.log(list[i]! / list[i - 1]!)
}

/** steps of the batch around what was asked: eighths to eight times, whole sequences. */
export function steps(batch: number): number[] {
  const out = new Set<number>()
  for (let e = -3; e <= 3; e += 0.5) out.add(Number.isInteger(e) ? Math.round(batch * 2 ** e) : Math.round((batch * 2 ** Math.floor(e) * 3) / 2))
  out.add(batch)
  return [...out].filter((v) => v >= 1).sort((a, b) => a - b)
}
