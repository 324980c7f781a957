import { get } from '../api/client'
import { useLoaded } from '../api/use'
import { useLang } from '../i18n'
import { Failed } from '../ui/states'
import { Table } from '../ui/table'
import { Told } from '../ui/told'
import { isFile, type Run } from './runs'
import { said } from './said'

interface Gap {
  gap: {
    pairs: {
      load: string
      rows: { metric: string; unit: string; predicted: number; measured: number; error: number; measured_low: number | null; measured_high: number | null; parts: { name: string; value: number }[] | null }[]
    }[]
    unpaired: string[]
  } | null
}

/** Against holds a kept bench against what was predicted for it: each mean, how far it is, and what the gap is made of. */
export function Against({ run, other }: { run: Run; other: Run }) {
  const speech = useLang()
  const { t, f } = speech
  const [prediction, bench] = run.kind === 'bench' ? [other, run] : [run, other]
  const kept = !isFile(prediction.id) && !isFile(bench.id)
  const query = new URLSearchParams({ a: prediction.id, b: bench.id }).toString()
  const loaded = useLoaded(kept ? query : '', (signal) => get<Gap>('runs/compare?' + query, signal))
  if (!kept) return <p class="note">{t.measured.keepBoth}</p>
  if (loaded.error) return <Failed error={loaded.error} />
  const rows = (loaded.value?.gap?.pairs ?? []).flatMap((p) => p.rows.map((r) => ({ ...r, load: p.load })))
  if (!loaded.value) return null
  if (!rows.length) return <p class="note">{t.measured.noPair}</p>
  const told = (v: number | null, unit: string) => said({ unit }, v, speech)
  return (
    <>
      <h3>{t.measured.gapTitle}</h3>
      <Table
        name="gap"
        caption={t.measured.gapTitle}
        rows={rows}
        columns={[
          { head: t.measured.load, text: true, raw: (r) => r.load, cell: (r) => r.load },
          { head: t.measured.metric, text: true, raw: (r) => r.metric, cell: (r) => t.measured.names(r.metric) },
          { head: t.measured.predicted, raw: (r) => r.predicted, cell: (r) => told(r.predicted, r.unit) },
          { head: t.measured.measured, raw: (r) => r.measured, cell: (r) => told(r.measured, r.unit) },
          { head: '95 %', raw: (r) => r.measured_low, cell: (r) => (r.measured_low === null ? '–' : `${told(r.measured_low, r.unit)} … ${told(r.measured_high, r.unit)}`) },
          { head: t.measured.gap, raw: (r) => r.error, cell: (r) => f.signed(r.error) },
          { head: t.measured.parts, text: true, raw: (r) => (r.parts ?? []).map((p) => `${p.name} ${p.value}`).join('; '), cell: (r) => (r.parts?.length ? r.parts.map((p, i) => <span key={p.name}>{i > 0 && '; '}<Told text={p.name} /> {told(p.value, r.unit)}</span>) : '–') },
        ]}
      />
    </>
  )
}
