// Passes too narrow to be told apart, as shares of the time that each column of pixels covers.

import type { Pass } from '../api/training'
import { box4, waitKinds, type Place } from './passes'

/** Spent is a span of time and what it is spent on: shares by kind, at most 1 together. */
export interface Spent {
  start: number
  end: number
  shares: Record<string, number>
}

/** spentOf is a pass without its waits, and each of those. */
export function spentOf(p: Pass): Spent {
  const long = p.end - p.start
  const waits = waitKinds.map((k) => [k, long > 0 ? (p.waits?.[k] ?? 0) / long : 0] as const)
  const busy = Math.max(0, waits.reduce((left, [, v]) => left - v, 1))
  const own = p.pass === 'FB' ? { 'pass-F': busy / 2, 'pass-B': busy / 2 } : { ['pass-' + p.pass]: busy }
  return { start: p.start, end: p.end, shares: { ...own, ...Object.fromEntries(waits.filter(([, v]) => v > 0).map(([k, v]) => ['wait-' + k, v])) } }
}

/** density is, by kind, the share of each of n equal columns of from..to that is spent on it. */
export function density(list: Spent[], from: number, to: number, n: number): Record<string, number[]> {
  const out: Record<string, number[]> = {}
  const column = (to - from) / n
  for (const { start, end, shares } of list)
    for (let i = Math.max(0, Math.floor((start - from) / column)); i < n && from + i * column < end; i++) {
      const part = (Math.min(end, from + (i + 1) * column) - Math.max(start, from + i * column)) / column
      if (part > 0) for (const [k, v] of Object.entries(shares)) (out[k] ??= new Array<number>(n).fill(0))[i]! += v * part
    }
  return out
}

/** Density draws columns over a place: each kind as high as its share, from the bottom up; what is left is bubble. */
export function Density({ list, from, to, at }: { list: Spent[]; from: number; to: number; at: Place }) {
  const n = Math.max(1, Math.round(at.width / 2))
  const found = density(list, from, to, n)
  const top = new Array<number>(n).fill(0)
  const wide = at.width / n
  return (
    <g aria-hidden="true">
      {Object.keys(found).sort().map((k) => (
        <path
          key={k}
          class={k}
          d={found[k]!.map((v, i) => {
            // Sends of both directions may run at once: the lane is full then.
            const share = Math.min(v, 1 - top[i]!)
            top[i]! += share
            return share > 0 ? box4({ x: at.x + i * wide, y: at.y + at.height * (1 - top[i]!), width: wide, height: at.height * share }) : ''
          }).join('')}
        />
      ))}
    </g>
  )
}
