// The passes of a timeline as shapes, with the share of each that waits for links.

import type { Pass } from '../api/training'

// Waits that passes hold, beside those that have a place of their own in the picture.
export const waitKinds = ['tp', 'cp', 'ep'] as const

export interface Placed {
  p: Pass
  at: Place
}

/** Hatches are the patterns of the waits, a direction for each kind, so that they differ without colour. */
export function Hatches() {
  const turn = { tp: 90, cp: -45, ep: 45 }
  return (
    <defs>
      {waitKinds.map((k) => (
        <pattern key={k} id={'wait-' + k} width="4" height="4" patternUnits="userSpaceOnUse" patternTransform={`rotate(${turn[k]})`}>
          <rect class="wait-ground" width="4" height="4" />
          <rect class={'spent-' + k} width="2" height="4" />
        </pattern>
      ))}
    </defs>
  )
}

/**
 * waitsIn is the share of a pass that waits for links, by kind, at the pass's end:
 * the answer says how long a pass waits, and not where in it. A pass that the view
 * cuts shows its share of what is seen.
 */
export function waitsIn(p: Pass, at: Place): { kind: string; at: Place }[] {
  const long = p.end - p.start
  let right = at.x + at.width
  return [...waitKinds].reverse().flatMap((kind) => {
    const width = long > 0 ? Math.min(right - at.x, (at.width * (p.waits?.[kind] ?? 0)) / long) : 0
    right -= width
    return width > 0 ? [{ kind, at: { ...at, x: right, width } }] : []
  })
}

export const box4 = (at: Place): string => `M${at.x.toFixed(2)} ${at.y.toFixed(2)}h${at.width.toFixed(2)}v${at.height.toFixed(2)}h${(-at.width).toFixed(2)}z`

/** Mass is thousands of passes, one shape for each kind. */
export function Mass({ passes }: { passes: Placed[] }) {
  const of = (k: string) => passes.filter(({ p }) => p.pass === k)
  const half = (at: Place, second: boolean): Place => ({ ...at, height: at.height / 2, y: at.y + (second ? at.height / 2 : 0) })
  const pairs = of('FB')
  const d = {
    F: [...of('F').map((x) => box4(x.at)), ...pairs.map((x) => box4(half(x.at, false)))],
    B: [...of('B').map((x) => box4(x.at)), ...pairs.map((x) => box4(half(x.at, true)))],
    W: of('W').map((x) => box4(x.at)),
  }
  const held = passes.flatMap(({ p, at }) => waitsIn(p, at))
  return (
    <g aria-hidden="true">
      {Object.entries(d).map(([k, v]) => <path key={k} class={'pass-' + k} d={v.join('')} />)}
      {waitKinds.map((k) => <path key={k} class={'wait-' + k} d={held.filter((w) => w.kind === k).map((w) => box4(w.at)).join('')} />)}
    </g>
  )
}

export interface Place {
  x: number
  y: number
  width: number
  height: number
}

/** Shape of a pass; an overlapped pair is drawn as its forward over its backward half. */
export function Shape({ p, at }: { p: Pass; at: Place }) {
  const waits = waitsIn(p, at).map((w) => <rect key={w.kind} class={'wait-' + w.kind} {...w.at} />)
  if (p.pass !== 'FB')
    return (
      <>
        <rect class={`pass-${p.pass} seam`} {...at} />
        {waits}
      </>
    )
  return (
    <>
      <rect class="pass-F seam" {...at} height={at.height / 2} />
      <rect class="pass-B seam" {...at} y={at.y + at.height / 2} height={at.height / 2} />
      {waits}
    </>
  )
}
