import { Axes, frame, roomFor } from '../chart/axes'
import { Bars } from '../chart/bars'
import { Figure } from '../chart/figure'
import { Marks, type Mark } from '../chart/marks'
import { log, padded } from '../chart/scale'
import { useLang } from '../i18n'
import { Card, Facts } from '../ui/card'
import { groupsOf, pairsOf, type Json, type Run } from './runs'

/** Gap lays predictions beside measurements, and says where they part most. */
export function Gap({ run }: { run: Run }) {
  const { t, f } = useLang()
  const pairs = pairsOf(run.document)
  const groups = groupsOf(run.document).slice(0, 16)
  const metrics = Object.entries((run.document.metrics ?? {}) as Record<string, Json>)
  // The first metric is what measured and predicted state; docs/formats.md has the units.
  const unit = metrics.some(([k]) => k === 'tokens_per_second_per_gpu') ? `, ${t.plans.tokens}` : metrics.some(([k]) => k === 'tpot') ? ', TPOT, ms' : ''
  return (
    <Card title={t.measured.gapTitle} id="gap">
      <Facts facts={metrics.map(([k, m]) => ({ name: t.measured.names(k), value: f.percent(Number(m.median_ape)), note: t.measured.median(f.int(Number(m.n)), f.percent(Number(m.bias))) }))} />
      <div class="pictures">
        {pairs.length > 0 && (
          <Figure
            name="predicted-measured"
            title={t.measured.pairs}
            note={t.measured.gapNote}
            data={{ head: ['id', t.measured.measured, t.measured.predicted, t.measured.gap], rows: pairs.map((p) => [p.id, p.measured, p.predicted, p.predicted / p.measured - 1]) }}
            of={[run]}
            draw={(width) => <Pairs width={width} pairs={pairs} unit={unit} />}
          />
        )}
        {groups.length > 0 && (
          <Figure
            name="gap-groups"
            title={t.measured.where}
            note={t.measured.whereNote}
            data={{ head: [t.measured.group, 'n', t.measured.gap, 'bias'], rows: groups.map((g) => [g.name, g.n, g.median, g.bias]) }}
            of={[run]}
            draw={(width) => (
              <Bars
                width={width}
                label={t.measured.where}
                axis={t.measured.apeAxis}
                text={f.percent}
                bars={groups.map((g) => ({ name: g.name, parts: [{ value: g.median, tone: g.bias < 0 ? 'tone1' : 'tone2', label: `${g.name}\n${f.percent(g.median)} (n = ${f.int(g.n)})\nbias ${f.percent(g.bias)}` }] }))}
              />
            )}
          />
        )}
      </div>
    </Card>
  )
}

function Pairs({ width, pairs, unit }: { width: number; pairs: ReturnType<typeof pairsOf>; unit: string }) {
  const { t, f } = useLang()
  const domain = padded(pairs.flatMap((p) => [p.measured, p.predicted]))
  const box = frame(width, Math.min(460, Math.max(280, width * 0.75)), { left: roomFor(log(domain, [1, 0]).marks(5).map(f.num)) })
  const x = log(domain, [box.left, box.width - box.right])
  const y = log(domain, [box.height - box.bottom, box.top])
  const marks: Mark[] = pairs.map((p) => ({
    x: x.at(p.predicted),
    y: y.at(p.measured),
    label: [p.id, ...(p.text ? [p.text] : []), `${t.measured.measured} ${f.num(p.measured)}, ${t.measured.predicted} ${f.num(p.predicted)}`, `${t.measured.gap} ${f.percent(p.predicted / p.measured - 1)}`].join('\n'),
    shape: <circle class="dot tone1" cx={x.at(p.predicted)} cy={y.at(p.measured)} r={pairs.length > 300 ? 2.5 : 4} />,
  }))
  return (
    <svg viewBox={`0 0 ${box.width} ${box.height}`} role="group" aria-label={t.measured.gapTitle}>
      <Axes box={box} x={x} y={y} xLabel={t.measured.predicted + unit} yLabel={t.measured.measured + unit} xText={f.num} yText={f.num} />
      <line class="diagonal" x1={x.at(domain[0])} y1={y.at(domain[0])} x2={x.at(domain[1])} y2={y.at(domain[1])} aria-hidden="true" />
      <Marks marks={marks} box={box} label={t.measured.gapTitle} />
    </svg>
  )
}
