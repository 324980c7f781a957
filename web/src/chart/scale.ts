import { scaleLinear, scaleLog } from 'd3-scale'

/** Scale maps a figure to a place and knows where its marks stand. */
export interface Scale {
  at: (v: number) => number
  marks: (count: number) => number[]
  from: number
  to: number
}

export function linear(domain: [number, number], range: [number, number], nice = true): Scale {
  const s = scaleLinear(domain, range)
  if (nice) s.nice()
  const [from, to] = s.domain() as [number, number]
  return { at: s, marks: (n) => s.ticks(n), from, to }
}

/** log marks powers of ten, thinned where they crowd, and where there is room 2 and 5, within a decade also 3 and 7. */
export function log(domain: [number, number], range: [number, number]): Scale {
  const s = scaleLog(domain, range)
  const decades = Math.log10(domain[1] / domain[0])
  const marks = (n: number) => {
    const all = s.ticks(10)
    const of = (keep: number[]) => all.filter((v) => keep.includes(Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9))))
    const close = decades < 1 ? of([1, 2, 3, 5, 7]) : of([1, 2, 5])
    if (close.length < 2) return thin(s.ticks(n), n)
    if (close.length <= n) return close
    if (decades < 1) return thin(close, n)
    const thirds = of([1, 3])
    return thirds.length <= n ? thirds : thin(of([1]), n)
  }
  return { at: s, marks, from: domain[0], to: domain[1] }
}

/** doubling marks powers of two. */
export function doubling(domain: [number, number], range: [number, number]): Scale {
  const s = scaleLog(domain, range).base(2)
  return { at: s, marks: (n) => thin(s.ticks(4).filter((v) => Number.isInteger(Math.log2(v))), n), from: domain[0], to: domain[1] }
}

function thin(list: number[], most: number): number[] {
  const every = Math.ceil(list.length / Math.max(1, most))
  return list.filter((_, i) => i % every === 0)
}

/** padded extends a log domain by a share of its decades on both sides. */
export function padded(values: number[], share = 0.06): [number, number] {
  const lo = Math.min(...values)
  const hi = Math.max(...values)
  const f = Math.max((hi / lo) ** share, 1.12)
  return [lo / f, hi * f]
}
