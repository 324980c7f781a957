import { useState } from 'preact/hooks'
import { post } from '../api/client'
import type { ClusterDoc, Pass, TimelineDoc } from '../api/types'
import { useLoaded, type Loaded } from '../api/use'
import { frame } from '../chart/axes'
import { Figure, Legend } from '../chart/figure'
import { Marks, type Mark } from '../chart/marks'
import { linear } from '../chart/scale'
import { useLang } from '../i18n'
import type { Training } from '../state'
import { Failed, Skeleton } from '../ui/parts'
import { requestOf, type Priced } from './request'

const asked = new Map<string, Promise<TimelineDoc>>()

/** useTimeline lays the plan's step out; two pictures share the one answer. */
export function useTimeline(s: Training, plan: Priced, cluster: ClusterDoc | undefined, id: string): Loaded<TimelineDoc> {
  return useLoaded(
    id,
    () => {
      let p = asked.get(id)
      if (!p) {
        p = requestOf(s, cluster).then((body) => post<TimelineDoc>('train/timeline', { ...body, plan: plan.sent, alone: true }))
        p.catch(() => asked.delete(id))
        asked.set(id, p)
        if (asked.size > 20) asked.delete(asked.keys().next().value!)
      }
      return p
    },
    150,
  )
}

const windows = ['whole', 'start', 'middle', 'end'] as const

/** Timeline draws the step: a row per pipeline stage, its passes and communication; what is empty is bubble. */
export function Timeline({ s, plan, cluster, id }: { s: Training; plan: Priced; cluster: ClusterDoc | undefined; id: string }) {
  const { t, f } = useLang()
  const [view, setView] = useState<(typeof windows)[number]>('whole')
  const loaded = useTimeline(s, plan, cluster, id)
  if (loaded.error) return <Failed error={loaded.error} />
  if (!loaded.value) return <Skeleton tall />
  const doc = loaded.value
  const end = Math.max(...doc.stages.flatMap((x) => x.map((p) => p.end)), doc.step_seconds || 0)
  const shown = doc.stages.flatMap((x, i) => x.map((p) => ({ ...p, stage: i })))
  const span = end * 0.16
  const from = { whole: 0, start: 0, middle: end / 2 - span / 2, end: end - span }[view]
  const to = view === 'whole' ? end : from + span
  const passes = [...new Set(shown.map((p) => p.pass))]
  const lanes = doc.communication ?? []
  const cut = doc.shown_microbatches !== undefined && doc.microbatches !== undefined && doc.shown_microbatches < doc.microbatches
  return (
    <Figure
      name="timeline"
      title={t.timeline.title}
      note={`${t.timeline.note(f.seconds(doc.step_seconds), doc.bubble_rate === undefined ? '–' : f.percent(doc.bubble_rate))}${cut ? ' ' + t.timeline.cut(doc.shown_microbatches!, doc.microbatches!) : ''}`}
      busy={loaded.busy}
      legend={
        <div class="row legendrow">
          <Legend keys={[...passes.map((p) => ({ name: t.pass(p), tone: 'pass-' + p })), ...(lanes.length ? [{ name: t.timeline.comm, tone: 'pass-comm' }] : []), { name: t.timeline.bubble, tone: 'pass-bubble' }]} />
          <div class="segments" role="group" aria-label={t.timeline.view}>
            {windows.map((w) => (
              <button key={w} type="button" aria-pressed={view === w} onClick={() => setView(w)}>{t.timeline[w]}</button>
            ))}
          </div>
        </div>
      }
      data={{ head: [t.memory.rank, t.timeline.pass, t.timeline.microbatch, t.timeline.begin + ' (s)', t.timeline.endsAt + ' (s)'], rows: shown.map((p) => [p.stage, p.pass, p.microbatch, p.start, p.end]) }}
      draw={(width) => <Rows width={width} doc={doc} from={from} to={to} />}
    />
  )
}

function Rows({ width, doc, from, to }: { width: number; doc: TimelineDoc; from: number; to: number }) {
  const { t, f } = useLang()
  const n = doc.stages.length
  const lanes = doc.communication ?? []
  const row = Math.max(9, Math.min(26, 300 / n))
  const thin = lanes.length ? Math.max(4, row * 0.35) : 0
  const pitch = row + thin + 4
  const box = frame(width, n * pitch + 62, { left: 58, top: 10 })
  const x = linear([from, to], [box.left, box.width - box.right], false)
  const inside = (p: { start: number; end: number }) => p.end > from && p.start < to
  const rect = (p: { start: number; end: number }, y: number, h: number) => {
    const x1 = x.at(Math.max(from, p.start))
    return { x: x1, y, width: Math.max(0.4, x.at(Math.min(to, p.end)) - x1), height: h }
  }
  const marks: Mark[] = doc.stages.flatMap((passes, i) =>
    passes.filter(inside).map((p) => {
      const at = rect(p, box.top + i * pitch, row)
      return { x: at.x + at.width / 2, y: at.y, label: `${t.memory.stage(i)}: ${t.pass(p.pass)}, ${t.timeline.microbatch} ${p.microbatch}\n${f.seconds(p.end - p.start)} (${f.seconds(p.start)} – ${f.seconds(p.end)})`, shape: <Shape p={p} at={at} /> }
    }),
  )
  const comm: Mark[] = lanes.flatMap((list, i) =>
    list.filter(inside).map((p) => {
      const at = rect(p, box.top + i * pitch + row + 1, thin)
      return { x: at.x + at.width / 2, y: at.y, label: `${t.memory.stage(p.stage ?? i)}: ${p.name}\n${f.seconds(p.end - p.start)} (${f.seconds(p.start)} – ${f.seconds(p.end)})`, shape: <rect class="pass-comm" {...at} /> }
    }),
  )
  return (
    <svg viewBox={`0 0 ${box.width} ${box.height}`} role="group" aria-label={t.timeline.title}>
      <g class="axes" aria-hidden="true">
        {doc.stages.map((_, i) => (
          <g key={i}>
            <rect class="pass-bubble" x={box.left} y={box.top + i * pitch} width={box.width - box.right - box.left} height={row} />
            {(n <= 16 || i % Math.ceil(n / 16) === 0) && <text x={box.left - 8} y={box.top + i * pitch + row / 2} dy="0.34em" text-anchor="end">{t.memory.short(i)}</text>}
          </g>
        ))}
        {x.marks(Math.max(2, Math.floor(width / 110))).map((v) => (
          <text key={v} x={x.at(v)} y={box.height - 28} text-anchor="middle">{f.seconds(v)}</text>
        ))}
        <text class="label" x={(box.left + box.width - box.right) / 2} y={box.height - 7} text-anchor="middle">{t.timeline.axis}</text>
      </g>
      <Marks marks={[...marks, ...comm]} box={box} label={t.timeline.marks(doc.stages.length)} />
    </svg>
  )
}

interface Place {
  x: number
  y: number
  width: number
  height: number
}

/** Shape of a pass; an overlapped pair is drawn as its forward over its backward half. */
function Shape({ p, at }: { p: Pass; at: Place }) {
  if (p.pass !== 'FB') return <rect class={`pass-${p.pass} seam`} {...at} />
  return (
    <>
      <rect class="pass-F seam" {...at} height={at.height / 2} />
      <rect class="pass-B seam" {...at} y={at.y + at.height / 2} height={at.height / 2} />
    </>
  )
}
