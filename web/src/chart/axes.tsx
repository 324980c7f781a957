import type { Scale } from './scale'

export interface Box {
  width: number
  height: number
  top: number
  right: number
  bottom: number
  left: number
}

export const frame = (width: number, height: number, more: Partial<Box> = {}): Box => ({ width, height, top: 14, right: 16, bottom: 44, left: 62, ...more })

// More marks than this on an axis are noise, however wide it is.
const mostMarks = 12

interface Props {
  box: Box
  x: Scale
  y: Scale
  xLabel: string
  yLabel: string
  xText: (v: number) => string
  yText: (v: number) => string
}

/** roomFor is the left margin that the widest of some labels needs, beside the axis' own. */
export const roomFor = (labels: string[]): number => 34 + Math.max(...labels.map((l) => l.length)) * 6.6

/** anchorAt is how a text over a point is set so that it stays within a picture. */
export const anchorAt = (x: number, text: string, width: number): 'start' | 'middle' | 'end' => {
  const half = (text.length * 6.6) / 2
  return x + half > width ? 'end' : x - half < 0 ? 'start' : 'middle'
}

/** Axes draws both axes with light grid lines; labels carry the unit. */
export function Axes({ box, x, y, xLabel, yLabel, xText, yText }: Props) {
  const bottom = box.height - box.bottom
  const right = box.width - box.right
  // Short labels may stand closer: a narrow picture keeps enough of them.
  const marks = (room: number) => x.marks(Math.min(mostMarks, Math.max(2, Math.floor((right - box.left) / room))))
  const across = marks(48).every((v) => xText(v).length <= 5) ? marks(48) : marks(62)
  return (
    <g class="axes" aria-hidden="true">
      {y.marks(Math.max(3, Math.floor((bottom - box.top) / 45))).map((v) => (
        <g key={v} transform={`translate(0,${y.at(v)})`}>
          <line class="grid" x1={box.left} x2={right} />
          <text x={box.left - 8} dy="0.32em" text-anchor="end">{yText(v)}</text>
        </g>
      ))}
      {across.map((v) => (
        <g key={v} transform={`translate(${x.at(v)},0)`}>
          <line class="grid" y1={box.top} y2={bottom} />
          <text y={bottom + 17} text-anchor={anchorAt(x.at(v), xText(v), box.width)}>{xText(v)}</text>
        </g>
      ))}
      <line class="axis" x1={box.left} x2={right} y1={bottom} y2={bottom} />
      <line class="axis" x1={box.left} x2={box.left} y1={box.top} y2={bottom} />
      <text class="label" x={(box.left + right) / 2} y={box.height - 7} text-anchor="middle">{xLabel}</text>
      <text class="label" transform={`translate(13,${(box.top + bottom) / 2}) rotate(-90)`} text-anchor="middle">{yLabel}</text>
    </g>
  )
}
