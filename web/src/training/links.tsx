import type { PlanDoc } from '../api/training'
import { Bars, type Bar } from '../chart/bars'
import { Figure, Legend } from '../chart/figure'
import { useLang } from '../i18n'

const resources = ['compute', 'hbm', 'nvlink', 'network'] as const

/** Links holds compute against memory and each link: the seconds that each alone is busy, beside where the step goes. */
export function Links({ plan }: { plan: PlanDoc }) {
  const { t, f } = useLang()
  const sol = resources.map((r) => ({ r, v: plan.sol[`${r}_seconds`] }))
  const rest = Object.entries(plan.exposed).filter(([, v]) => v > plan.step_seconds * 1e-4)
  const spent = [{ part: 'kernels', v: plan.kernel_seconds }, ...rest.map(([part, v]) => ({ part, v }))]
  const partName = (k: string) => (k === 'optimizer' ? t.timeline.optimizer : t.part(k))
  const bars: Bar[] = [
    ...sol.map(({ r, v }) => ({
      name: t.bound(r),
      strong: r === plan.bound,
      parts: [{ value: v, tone: 'bound-' + r, label: `${t.bound(r)}: ${f.seconds(v)}\n${t.links.ofStep(f.percent(v / plan.step_seconds))}\n${t.links.ofCompute(f.ratio(v / plan.sol.compute_seconds))}` }],
    })),
    {
      name: t.fact.step,
      parts: spent.map((x) => ({ value: x.v, tone: 'spent-' + x.part, label: `${partName(x.part)}: ${f.seconds(x.v)}\n${t.links.ofStep(f.percent(x.v / plan.step_seconds))}` })),
    },
  ]
  return (
    <Figure
      name="links"
      title={t.links.title}
      note={t.links.note(t.bound(plan.bound), f.ratio(Math.max(plan.sol.nvlink_seconds, plan.sol.network_seconds) / plan.sol.compute_seconds))}
      data={{
        head: [t.links.resource, t.links.seconds, '% ' + t.fact.step],
        rows: [...sol.map(({ r, v }) => [t.bound(r), v, (v / plan.step_seconds) * 100]), ...spent.map((x) => [partName(x.part), x.v, (x.v / plan.step_seconds) * 100])],
      }}
      legend={<Legend keys={spent.map((x) => ({ name: partName(x.part), tone: 'spent-' + x.part }))} />}
      of={[plan]}
      draw={(width) => <Bars width={width} label={t.links.title} bars={bars} text={f.secondsUpTo(plan.step_seconds)} axis={t.links.axis} limit={{ value: plan.step_seconds, name: t.fact.step }} thick={24} />}
    />
  )
}
