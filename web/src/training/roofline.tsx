import { useMemo, useState } from 'preact/hooks'
import { post } from '../api/client'
import type { ExplainDoc, Operation, Roof } from '../api/training'
import { useLoaded } from '../api/use'
import { Axes, frame } from '../chart/axes'
import { Figure, Legend } from '../chart/figure'
import { Marks, type Mark } from '../chart/marks'
import { log, padded } from '../chart/scale'
import { useLang } from '../i18n'
import { nameInVietnamese } from '../i18n/phrases'
import type { Training } from '../state'
import { Select } from '../ui/field'
import { Failed, Skeleton } from '../ui/states'
import { requestOf, type Priced } from './request'

/** along sets a name on a rising line: over its middle, under it where it would cover the axis, or beside a line that is too short. */
function along({ x1, y1, x2, y2 }: { x1: number; y1: number; x2: number; y2: number }, name: string): { transform: string; dx?: string; dy: string; 'text-anchor': 'middle' | 'start' } {
  const wide = name.length * letter
  const turn = Math.atan2(y2 - y1, x2 - x1)
  if (Math.hypot(x2 - x1, y2 - y1) < wide + letter) return { transform: `translate(${x2},${(y1 + y2) / 2})`, dx: '6', dy: '0.9em', 'text-anchor': 'start' }
  const left = (x1 + x2) / 2 - (wide / 2) * Math.cos(turn) + 2.5 * letter * Math.sin(turn)
  return { transform: `translate(${(x1 + x2) / 2},${(y1 + y2) / 2}) rotate(${(turn * 180) / Math.PI})`, dy: left < x1 ? '16' : '-8', 'text-anchor': 'middle' }
}
const letter = 7.2 // px, of names in bold

const bounds = ['compute', 'hbm', 'nvlink', 'network', 'latency'] as const

/** Roofline shows each operation of one rank and micro-batch under the roofs of its device. */
export function Roofline({ s, plan, id }: { s: Training; plan: Priced; id: string }) {
  const { t } = useLang()
  const [phase, setPhase] = useState('')
  const loaded = useLoaded(id, async (signal) => post<ExplainDoc>('train/explain', { ...(await requestOf(s)), plan: plan.sent, alone: true }, signal), 120)
  const doc = loaded.value
  const list = useMemo(() => doc?.operations.filter((o) => !phase || o.phase === phase) ?? [], [doc, phase])
  if (loaded.error) return <Failed error={loaded.error} />
  if (!doc) return <Skeleton tall />
  const phases = [...new Set(doc.operations.map((o) => o.phase))]
  return (
    <Roofs list={list} roofs={doc.roofs} busy={loaded.busy}>
      <Select label={t.roof.phase} value={phase} options={[['', t.roof.all], ...phases.map((p): [string, string] => [p, t.phase(p)])]} onChange={setPhase} />
    </Roofs>
  )
}

function Roofs({ list, roofs, busy, children }: { list: Operation[]; roofs: Roof[]; busy: boolean; children: preact.ComponentChildren }) {
  const { t, f, lang } = useLang()
  const points = list.filter((o) => o.flops > 0 && o.bytes > 0)
  const moves = list.filter((o) => o.flops === 0)
  const used = bounds.filter((b) => points.some((o) => o.bound === b))
  const total = list.reduce((sum, o) => sum + o.estimate_seconds * o.layers, 0)
  const wall = roofs.find((r) => r.resource === 'hbm')
  const shown = roofs.filter((r) => r.resource === 'compute')
  const say = (name: string) => (lang === 'vi' && nameInVietnamese(name)) || name
  const tell = (o: Operation) =>
    [
      `${say(o.operation)} (${t.phase(o.phase)})`,
      say(o.layer),
      `${f.flopRate(o.flops / o.estimate_seconds)}, ${f.num(o.flops_per_byte)} FLOP/B`,
      `${f.flops(o.flops)}, ${f.bytes(o.bytes)}`,
      `${f.seconds(o.estimate_seconds)} (≥ ${f.seconds(o.lower_seconds)}) × ${o.layers}`,
      t.roof.bound(t.bound(o.bound)),
    ].join('\n')
  const draw = (width: number) => {
    const box = frame(width, Math.max(300, Math.min(430, width * 0.62)), { left: 104 })
    if (!points.length) return <p class="note">{t.roof.none}</p>
    const rates = points.map((o) => o.flops / o.estimate_seconds)
    const y = log(padded([...rates, ...shown.map((r) => r.peak ?? r.achieved)], 0.05), [box.height - box.bottom, box.top])
    const top = Math.max(...shown.map((r) => r.achieved), ...rates)
    // The ridge stands in the picture even where every operation lies beyond it.
    const ridge = wall ? [(top / wall.achieved) * 0.7] : []
    const x = log(padded([...ridge, ...points.map((o) => o.flops_per_byte)], 0.1), [box.left, box.width - box.right])
    const slope = (bytes: number, roof: number) => {
      const from = Math.max(x.from, y.from / bytes)
      const to = Math.min(x.to, roof / bytes)
      return to > from ? { x1: x.at(from), y1: y.at(from * bytes), x2: x.at(to), y2: y.at(to * bytes) } : undefined
    }
    const seen = wall?.achieved
    const ramp = seen && slope(seen, top)
    const marks: Mark[] = points.map((o, i) => {
      const r = 3 + 9 * Math.sqrt((o.estimate_seconds * o.layers) / total)
      const at = { x: x.at(o.flops_per_byte), y: y.at(rates[i]!) }
      return { ...at, label: tell(o), shape: <circle class={`dot bound-${o.bound}`} cx={at.x} cy={at.y} r={r} /> }
    })
    return (
      <svg viewBox={`0 0 ${box.width} ${box.height}`} role="group" aria-label={t.roof.title}>
        <Axes box={box} x={x} y={y} xLabel={t.roof.x} yLabel={t.roof.y} xText={f.num} yText={(v) => f.flopRate(v)} />
        {ramp && (
          <g class="roof" aria-hidden="true">
            <line {...ramp} />
          </g>
        )}
        {shown.map((r) => {
          const v = r.achieved
          const from = seen ? Math.max(x.from, Math.min(x.to, v / seen)) : x.from
          return (
            <g class="roof" key={r.format ?? ''} aria-hidden="true">
              <line x1={x.at(from)} x2={box.width - box.right} y1={y.at(v)} y2={y.at(v)} />
              {r.peak && r.peak !== v && <line class="peak" x1={x.at(from)} x2={box.width - box.right} y1={y.at(r.peak)} y2={y.at(r.peak)} />}
            </g>
          )
        })}
        <Marks marks={marks} box={box} label={t.roof.marks(points.length)} />
        <g class="roof names" aria-hidden="true">
          {ramp && (
            <text {...along(ramp, `HBM ${f.rate(seen)}`)}>{`HBM ${f.rate(seen)}`}</text>
          )}
          {shown.map((r) => (
            <text key={r.format ?? ''} x={box.width - box.right - 4} y={y.at(r.achieved) - 6} text-anchor="end">{`${r.format} ${f.flopRate(r.achieved)}`}</text>
          ))}
        </g>
      </svg>
    )
  }
  return (
    <Figure
      name="roofline"
      title={t.roof.title}
      note={t.roof.note(moves.length, f.percent(moves.reduce((sum, o) => sum + o.estimate_seconds * o.layers, 0) / (total || 1)))}
      busy={busy}
      legend={
        <div class="row legendrow">
          <Legend keys={used.map((b) => ({ name: t.bound(b), tone: 'bound-' + b }))} />
          {children}
        </div>
      }
      data={{
        head: [t.roof.operation, t.roof.layer, t.roof.phase, t.roof.times, 'FLOP', 'B', 'FLOP/B', t.roof.estimate + ' (s)', t.roof.lower + ' (s)', t.fact.binds],
        rows: list.map((o) => [say(o.operation), say(o.layer), t.phase(o.phase), o.layers, o.flops, o.bytes, o.flops_per_byte, o.estimate_seconds, o.lower_seconds, t.bound(o.bound)]),
      }}
      of={[list, roofs]}
      draw={draw}
    />
  )
}
