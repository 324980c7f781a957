import type { ComponentChildren } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import type { Box } from './axes'

export interface Mark {
  x: number // where its tip points, in the drawing
  y: number
  label: string // read out, and the tip's text: lines split by \n
  shape: ComponentChildren
}

/**
 * Marks are a picture's points. The mouse shows the nearest one's tip; with the
 * keyboard the whole set is one stop, and arrow keys go from mark to mark.
 */
export function Marks({ marks, box, label, onPick }: { marks: Mark[]; box: Box; label: string; onPick?: (i: number) => void }) {
  const [at, setAt] = useState(-1)
  const [stop, setStop] = useState(0)
  const group = useRef<SVGGElement>(null)
  const go = (i: number) => {
    const n = (i + marks.length) % marks.length
    setStop(n)
    ;(group.current!.children[n] as SVGGElement).focus()
  }
  const key = (e: KeyboardEvent, i: number) => {
    const to = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: marks.length - 1 }[e.key]
    if (to !== undefined) {
      e.preventDefault()
      go(to)
    } else if ((e.key === 'Enter' || e.key === ' ') && onPick) {
      e.preventDefault()
      onPick(i)
    } else if (e.key === 'Escape') setAt(-1)
  }
  const shown = marks[at]
  const drawn = useMemo(
    () =>
      marks.map((m, i) => (
        <g
          key={i}
          role="listitem"
          aria-label={m.label.replaceAll('\n', ', ')}
          tabIndex={i === Math.min(stop, marks.length - 1) ? 0 : -1}
          class={onPick ? 'mark pick' : 'mark'}
          onPointerEnter={() => setAt(i)}
          onPointerLeave={() => setAt(-1)}
          onFocus={() => (setAt(i), setStop(i))}
          onBlur={() => setAt(-1)}
          onKeyDown={(e) => key(e, i)}
          onClick={onPick ? () => onPick(i) : undefined}
        >
          {m.shape}
        </g>
      )),
    [marks, stop],
  )
  return (
    <g>
      <g ref={group} role="list" aria-label={label}>
        {drawn}
      </g>
      {shown && <Tip at={shown} box={box} />}
    </g>
  )
}

/** Tip is drawn inside the picture and kept within it. */
function Tip({ at, box }: { at: Mark; box: Box }) {
  const lines = at.label.split('\n')
  const width = Math.min(box.width - 8, Math.max(...lines.map((l) => l.length)) * 6.7 + 20)
  const height = lines.length * 17 + 12
  const x = Math.max(4, Math.min(at.x + 12, box.width - width - 4))
  const above = at.y - height - 10
  const y = above > 2 ? above : Math.min(at.y + 12, box.height - height - 2)
  return (
    <g class="tip" data-screen transform={`translate(${x},${y})`} aria-hidden="true">
      <rect width={width} height={height} rx="4" />
      {lines.map((l, i) => (
        <text key={i} x="10" y={20 + i * 17} class={i === 0 ? 'strong' : undefined}>{l}</text>
      ))}
    </g>
  )
}
