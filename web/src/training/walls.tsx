import { useMemo } from 'preact/hooks'
import type { ClusterDoc } from '../api/catalogue'
import type { BreakEven, PlanDoc } from '../api/training'
import { useLang } from '../i18n'
import { sliders, type Training } from '../state'
import { Card } from '../ui/card'
import { Failed } from '../ui/states'
import { Slider } from '../ui/slider'
import { Formats } from './formats'
import type { Answer } from './page'
import type { Knob, Turns, WallsState } from './price'

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
          hints={hintsOf('batch', tell(walls.turns.batch, batch0, (v) => `${f.int(v)} ${t.unit.sequences}`))}
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
