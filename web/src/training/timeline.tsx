import { useMemo, useState } from 'preact/hooks'
import { post } from '../api/client'
import type { Pass, TimelineDoc } from '../api/training'
import { useLoaded, type Loaded } from '../api/use'
import { frame } from '../chart/axes'
import { Figure, Legend } from '../chart/figure'
import { Marks, type Mark } from '../chart/marks'
import { linear } from '../chart/scale'
import { useLang } from '../i18n'
import type { Training } from '../state'
import { Failed, Skeleton } from '../ui/states'
import { box4, Hatches, Mass, Shape, waitKinds, type Place } from './passes'
import { Density, spentOf } from './density'
import { requestOf, type Priced } from './request'

const asked = new Map<string, Promise<TimelineDoc>>()

/** useTimeline lays the plan's step out; two pictures share the one answer. */
export function useTimeline(s: Training, plan: Priced, id: string): Loaded<TimelineDoc> {
  return useLoaded(
    id,
    () => {
      let p = asked.get(id)
      if (!p) {
        p = requestOf(s).then((body) => post<TimelineDoc>('train/timeline', { ...body, plan: plan.sent, alone: true }))
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

// Above this many passes in view they are drawn as one shape for each kind: no
// reader points at one of thousands.
const mostMarks = 2000

/** Timeline draws the step: a row per pipeline stage, its passes and what it sends; what is empty is bubble. */
export function Timeline({ s, plan, id }: { s: Training; plan: Priced; id: string }) {
  const { t, f } = useLang()
  const [view, setView] = useState<(typeof windows)[number]>('whole')
  const loaded = useTimeline(s, plan, id)
  const laid = useMemo(() => loaded.value && inView(loaded.value), [loaded.value])
  if (loaded.error) return <Failed error={loaded.error} />
  if (!loaded.value || !laid) return <Skeleton tall />
  const doc = loaded.value
  const { end, span, kinds } = laid
  const from = { whole: 0, start: 0, middle: end / 2 - span / 2, end: end - span }[view]
  const to = view === 'whole' ? end : from + span
  const held = waitKinds.filter((k) => (plan.result!.exposed[k] ?? 0) > 0)
  const waits = held.map((k) => `${t.part(k)} ${f.seconds(plan.result!.exposed[k])}`)
  return (
    <Figure
      name="timeline"
      title={t.timeline.title}
      note={t.timeline.note(f.seconds(doc.step_seconds), f.percent((plan.result!.exposed.bubble ?? 0) / plan.result!.step_seconds), doc.schedule) + (waits.length ? t.timeline.inside(waits.join(', ')) : '') + t.timeline.narrow}
      busy={loaded.busy}
      legend={
        <div class="row legendrow">
          <Legend
            keys={[
              ...kinds.map((k) => ({ name: t.pass(k), tone: 'pass-' + k })),
              ...held.map((k) => ({ name: t.part(k), tone: 'wait-' + k })),
              { name: t.timeline.comm, tone: 'pass-comm' },
              { name: t.timeline.optimizer, tone: 'pass-opt' },
              { name: t.timeline.bubble, tone: 'pass-bubble' },
            ]}
          />
          <div class="segments" role="group" aria-label={t.timeline.view}>
            {windows.map((w) => (
              <button key={w} type="button" aria-pressed={view === w} onClick={() => setView(w)}>{t.timeline[w]}</button>
            ))}
          </div>
        </div>
      }
      data={{ head: [t.memory.rank, t.timeline.pass, t.timeline.microbatch, t.timeline.begin + ' (s)', t.timeline.endsAt + ' (s)', ...waitKinds.map((k) => t.part(k) + ' (s)')], rows: laid.rows }}
      of={[doc, view]}
      draw={(width) => <Rows width={width} doc={doc} from={from} to={to} />}
    />
  )
}

/** inView is what follows from a step alone: its end, the part of it in which passes can be told apart, its kinds of passes, its numbers. */
function inView(doc: TimelineDoc) {
  const all = doc.stages.flatMap((x) => x.passes.map((p) => ({ ...p, stage: x.stage })))
  const end = all.reduce((most, p) => Math.max(most, p.end), doc.step_seconds)
  const span = end * Math.min(0.5, Math.max(0.04, 12 / Math.max(1, ...doc.stages.map((x) => x.passes.length))))
  return {
    end,
    span,
    kinds: [...new Set([...new Set(all.map((p) => p.pass))].flatMap((k) => (k === 'FB' ? ['F', 'B'] : [k])))],
    rows: all.map((p) => [p.stage, p.pass, p.microbatch, p.start, p.end, ...waitKinds.map((k) => p.waits?.[k] ?? 0)]),
  }
}

function Rows({ width, doc, from, to }: { width: number; doc: TimelineDoc; from: number; to: number }) {
  const { t, f } = useLang()
  const n = doc.stages.length
  const row = Math.max(8, Math.min(28, 290 / n))
  const lane = Math.max(3, row * 0.3)
  const pitch = row + lane + 3
  const box = frame(width, n * pitch + 60, { left: 58, top: 8 })
  const x = linear([from, to], [box.left, box.width - box.right], false)
  const inside = (p: { start: number; end: number }) => p.end > from && p.start < to
  const rect = (p: { start: number; end: number }, stage: number, below = false): Place => {
    const x1 = x.at(Math.max(from, p.start))
    return { x: x1, y: box.top + stage * pitch + (below ? row + 1 : 0), width: Math.max(0.4, x.at(Math.min(to, p.end)) - x1), height: below ? lane : row }
  }
  const when = (p: { start: number; end: number }) => `${f.seconds(p.end - p.start)} (${f.seconds(p.start)} – ${f.seconds(p.end)})`
  const passes = doc.stages.flatMap((d) => d.passes.filter(inside).map((p) => ({ p, stage: d.stage, at: rect(p, d.stage) })))
  const sends = doc.sends.filter(inside).map((p) => ({ p, at: rect(p, p.from, true) }))
  const closes = doc.stages.flatMap((d) => {
    const sent = { start: doc.pipeline_seconds, end: doc.pipeline_seconds + d.close.collectives_seconds }
    const opt = { start: sent.end, end: sent.end + d.close.optimizer_seconds }
    return [
      { p: sent, stage: d.stage, tone: 'pass-comm', name: t.timeline.closing },
      { p: opt, stage: d.stage, tone: 'pass-opt', name: t.timeline.optimizer },
    ].filter((c) => c.p.end > c.p.start && inside(c.p))
  })
  // Narrower than this, px, passes would be drawn over each other: shares of the time are shown in their place.
  const seen = passes.reduce((sum, { p }) => sum + Math.min(to, p.end) - Math.max(from, p.start), 0)
  const narrow = passes.length > 0 && Math.abs(x.at(from + seen / passes.length) - x.at(from)) < 1.5
  const few = !narrow && passes.length + sends.length <= mostMarks
  const marks: Mark[] = few
    ? [
        ...passes.map(({ p, stage, at }) => ({ x: at.x + at.width / 2, y: at.y, label: [`${t.memory.stage(stage)}: ${t.pass(p.pass)}`, which(p, t.timeline.microbatch), when(p), ...Object.entries(p.waits ?? {}).map(([k, v]) => `${t.part(k)}: ${f.seconds(v)}`)].join('\n'), shape: <Shape p={p} at={at} /> })),
        ...sends.map(({ p, at }) => ({ x: at.x + at.width / 2, y: at.y, label: `${t.timeline.send(p.from, p.to, t.bound(p.link))}\n${t.timeline.microbatch} ${p.microbatch}\n${when(p)}`, shape: <rect class="pass-comm" {...at} /> })),
        ...closes.map((c) => {
          const at = rect(c.p, c.stage)
          return { x: at.x + at.width / 2, y: at.y, label: `${t.memory.stage(c.stage)}: ${c.name}\n${when(c.p)}`, shape: <rect class={c.tone} {...at} /> }
        }),
      ]
    : doc.stages.map((d) => ({ x: box.width / 2, y: box.top + d.stage * pitch, label: `${t.memory.stage(d.stage)}: ${t.timeline.many(d.passes.length)}`, shape: <rect class="hit" x={box.left} y={box.top + d.stage * pitch} width={box.width - box.left - box.right} height={row} /> }))
  return (
    <svg viewBox={`0 0 ${box.width} ${box.height}`} role="group" aria-label={t.timeline.title}>
      <Hatches />
      <g class="axes" aria-hidden="true">
        {doc.stages.map((d) => (
          <g key={d.stage}>
            <rect class="pass-bubble" x={box.left} y={box.top + d.stage * pitch} width={box.width - box.right - box.left} height={row} />
            {d.stage % Math.ceil(n / 24) === 0 && <text x={box.left - 8} y={box.top + d.stage * pitch + row / 2} dy="0.34em" text-anchor="end">{t.memory.short(d.stage)}</text>}
          </g>
        ))}
        {x.marks(Math.max(2, Math.floor(width / 110))).map((v) => <text key={v} x={x.at(v)} y={box.height - 27} text-anchor="middle">{f.secondsUpTo(to)(v)}</text>)}
        <text class="label" x={(box.left + box.width - box.right) / 2} y={box.height - 7} text-anchor="middle">{t.timeline.axis}</text>
      </g>
      {narrow &&
        doc.stages.map((d) => {
          const at = { x: box.left, y: box.top + d.stage * pitch, width: box.width - box.left - box.right, height: row }
          return (
            <g key={d.stage}>
              <Density list={d.passes.filter(inside).map(spentOf)} from={from} to={to} at={at} />
              <Density list={doc.sends.filter((p) => p.from === d.stage && inside(p)).map((p) => ({ start: p.start, end: p.end, shares: { 'pass-comm': 1 } }))} from={from} to={to} at={{ ...at, y: at.y + row + 1, height: lane }} />
            </g>
          )
        })}
      {narrow && closes.map((c) => <rect key={c.stage + c.tone} class={c.tone} {...rect(c.p, c.stage)} aria-hidden="true" />)}
      {!few && !narrow && <Mass passes={passes} />}
      {!few && !narrow && <path class="pass-comm" d={sends.map(({ at }) => box4(at)).join('')} aria-hidden="true" />}
      <Marks marks={marks} box={box} label={t.timeline.marks(n)} />
    </svg>
  )
}

const which = (p: Pass, word: string): string => `${word} ${p.microbatch}` + (p.backward_microbatch !== undefined ? ` (F), ${p.backward_microbatch} (B)` : '')
