import { line } from 'd3-shape'
import { Axes, frame, roomFor } from './axes'
import type { Key } from './figure'
import { Marks, type Mark } from './marks'
import { doubling, linear, log, padded, type Scale } from './scale'

/** Series of points; where y is null nothing is known, and the line has a gap. */
export interface Series {
  name: string
  tone: number // 1 to 8
  round?: number // how often the tones ran out before: each has marks and dashes of its own
  points: { x: number; y: number | null; label: string; strong?: boolean; faint?: boolean }[]
  dotted?: boolean
}

// The tones that series are told apart by, and the marks of each round of them, as letters too.
const tones = 8
const glyphs = ['●', '■', '◆', '▲']

/** look is how the i-th series of a picture is drawn. */
export const look = (i: number): { tone: number; round: number } => ({ tone: (i % tones) + 1, round: Math.floor(i / tones) })

/** keysOf is the legend of series: marks are named once tones come twice. */
export const keysOf = (series: Pick<Series, 'name' | 'tone' | 'round'>[]): Key[] =>
  series.map((s) => ({ name: (series.length > tones ? glyphOf(s.round) + ' ' : '') + s.name, tone: 'tone' + s.tone }))

const glyphOf = (round = 0): string => glyphs[round % glyphs.length]!

/** shapeOf is a round's mark about the origin, r its size. */
const shapeOf = (round: number, r: number): string =>
  ({
    '●': `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
    '■': `M${-r},${-r}H${r}V${r}H${-r}Z`,
    '◆': `M0,${-1.4 * r}L${1.4 * r},0L0,${1.4 * r}L${-1.4 * r},0Z`,
    '▲': `M0,${-1.3 * r}L${1.2 * r},${r}H${-1.2 * r}Z`,
  })[glyphOf(round)]!

// Dashes of the lines of each round.
const dashes = [undefined, '7 3', '2 3', '9 3 2 3']

export interface LinesProps {
  width: number
  height?: number
  label: string
  series: Series[]
  xLabel: string
  yLabel: string
  xText: (v: number) => string
  yText: (v: number) => string
  xScale?: 'linear' | 'log' | 'doubling'
  yScale?: 'linear' | 'log'
  limit?: { y: number; name: string } // a level that shall not be passed
  line?: boolean
}

/** Lines draws series of points, joined or not. */
export function Lines(p: LinesProps) {
  const all = p.series.flatMap((s) => known(s.points))
  if (!all.length) return null
  const levels = p.limit ? [...all.map((d) => d.y), p.limit.y] : all.map((d) => d.y)
  const box = frame(p.width, p.height ?? 280, { left: roomFor(scale(p.yScale ?? 'linear', levels, [1, 0]).marks(5).map(p.yText)) })
  const x = scale(p.xScale ?? 'linear', all.map((d) => d.x), [box.left, box.width - box.right])
  const y = scale(p.yScale ?? 'linear', levels, [box.height - box.bottom, box.top])
  const path = line<{ x: number; y: number | null }>((d) => x.at(d.x), (d) => y.at(d.y ?? 0)).defined((d) => d.y !== null)
  const marks: Mark[] = p.series.flatMap((s) =>
    known(s.points).map((d) => ({
      x: x.at(d.x),
      y: y.at(d.y),
      label: d.label,
      shape: (
        <>
          <circle class="hit" cx={x.at(d.x)} cy={y.at(d.y)} r="11" />
          <path class={`dot tone${s.tone}` + (d.faint ? ' faint' : '')} transform={`translate(${x.at(d.x)},${y.at(d.y)})`} d={shapeOf(s.round ?? 0, d.strong ? 7 : 4)} />
        </>
      ),
    })),
  )
  return (
    <svg viewBox={`0 0 ${box.width} ${box.height}`} role="group" aria-label={p.label}>
      <Axes box={box} x={x} y={y} xLabel={p.xLabel} yLabel={p.yLabel} xText={p.xText} yText={p.yText} />
      {p.limit && (
        <g class="limit" aria-hidden="true">
          <line x1={box.left} x2={box.width - box.right} y1={y.at(p.limit.y)} y2={y.at(p.limit.y)} />
          <text x={box.left + 6} y={y.at(p.limit.y) - 5}>{p.limit.name}</text>
        </g>
      )}
      {p.line !== false && p.series.map((s) => <path key={s.name} class={`line stroke${s.tone}` + (s.dotted ? ' dotted' : '')} stroke-dasharray={dashes[(s.round ?? 0) % dashes.length]} d={path(s.points) ?? ''} aria-hidden="true" />)}
      <Marks marks={marks} box={box} label={p.label} />
    </svg>
  )
}

const known = <P extends { y: number | null }>(points: P[]) => points.filter((d): d is P & { y: number } => d.y !== null)

function scale(kind: 'linear' | 'log' | 'doubling', values: number[], range: [number, number]): Scale {
  if (kind === 'linear') return linear([0, Math.max(...values) * 1.04 || 1], range)
  const domain = padded(values.filter((v) => v > 0))
  return kind === 'log' ? log(domain, range) : doubling(domain, range)
}
