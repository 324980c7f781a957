import { anchorAt, frame } from './axes'
import { Marks, type Mark } from './marks'
import { linear } from './scale'

export interface Part {
  value: number
  tone: string // fill class
  label: string
}

export interface Bar {
  name: string
  parts: Part[]
  strong?: boolean
}

/** Bars are stacked along one axis, lying; a limit is a line across all. */
export function Bars(p: { width: number; label: string; bars: Bar[]; text: (v: number) => string; axis: string; limit?: { value: number; name: string }; thick?: number }) {
  const names = Math.max(...p.bars.map((b) => b.name.length))
  const left = Math.min(p.width * 0.42, names * 7.2 + 16)
  const thick = p.thick ?? Math.max(12, Math.min(26, 420 / p.bars.length))
  const gap = Math.max(3, thick * 0.3)
  const box = frame(p.width, p.bars.length * (thick + gap) + 76, { left, top: 22, bottom: 46, right: 30 })
  const sum = (b: Bar) => b.parts.reduce((s, x) => s + x.value, 0)
  const x = linear([0, Math.max(...p.bars.map(sum), (p.limit?.value ?? 0) * 1.04) || 1], [left, box.width - box.right])
  const bottom = box.height - box.bottom
  const marks: Mark[] = p.bars.flatMap((b, i) => {
    let from = 0
    return b.parts
      .filter((d) => d.value > 0)
      .map((d) => {
        const at = { x: x.at(from), w: x.at(from + d.value) - x.at(from), y: box.top + 6 + i * (thick + gap) }
        from += d.value
        return { x: at.x + at.w / 2, y: at.y, label: d.label, shape: <rect class={d.tone + ' seam'} x={at.x} y={at.y} width={Math.max(0.5, at.w)} height={thick} /> }
      })
  })
  return (
    <svg viewBox={`0 0 ${box.width} ${box.height}`} role="group" aria-label={p.label}>
      <g class="axes" aria-hidden="true">
        {x.marks(Math.max(2, Math.floor((box.width - left) / 90))).map((v) => (
          <g key={v} transform={`translate(${x.at(v)},0)`}>
            <line class="grid" y1={box.top} y2={bottom} />
            <text y={bottom + 16} text-anchor={anchorAt(x.at(v), p.text(v), box.width)}>{p.text(v)}</text>
          </g>
        ))}
        {p.bars.map((b, i) => (
          <text key={i} x={left - 8} y={box.top + 6 + i * (thick + gap) + thick / 2} dy="0.34em" text-anchor="end" class={b.strong ? 'strong' : undefined}>
            {clip(b.name, (left - 8) / 7.2)}
          </text>
        ))}
        <text class="label" x={(left + box.width - box.right) / 2} y={box.height - 8} text-anchor="middle">{p.axis}</text>
      </g>
      <Marks marks={marks} box={box} label={p.label} />
      {p.limit && (
        <g class="limit" aria-hidden="true">
          <line x1={x.at(p.limit.value)} x2={x.at(p.limit.value)} y1={box.top - 4} y2={bottom} />
          <text x={x.at(p.limit.value)} y={box.top - 9} text-anchor={x.at(p.limit.value) > box.width * 0.6 ? 'end' : 'middle'}>{p.limit.name}</text>
        </g>
      )}
    </svg>
  )
}

export const clip = (s: string, n: number): string => (s.length > n ? s.slice(0, Math.max(1, Math.floor(n) - 1)) + '…' : s)
