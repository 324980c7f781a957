import { useRef, useState } from 'preact/hooks'
import { problemOf, search, type Problem, type Told } from '../api/client'
import { asProblem } from '../api/use'
import { useLang } from '../i18n'
import { fieldOf } from '../i18n/refusal'
import { Card } from '../ui/card'
import { Field, Select } from '../ui/field'
import { Failed } from '../ui/states'
import { grown, Samples, type Sample } from './live'
import { requestOf, type Load } from './request'
import { runOf, type Json, type Run } from './runs'

/** Measure puts a load on one of the services that the server was started for, and shows it as it runs. */
export function Measure({ services, onBusy, onRun }: { services: string[]; onBusy: (busy: boolean) => void; onRun: (id: string, run: Run | undefined) => void }) {
  const { t, lang } = useLang()
  const [q, setQ] = useState<Load>({ url: services[0]!, model: '', isl: '512', osl: '128', concurrency: '1,4,16', requests: '32' })
  const [seen, setSeen] = useState<Sample[]>([])
  const [error, setError] = useState<Problem>()
  const running = useRef<AbortController>(undefined)
  const [busy, setBusy] = useState(false)
  const on = (k: keyof Load & string) => ({ value: q[k]!, onInput: (v: string) => setQ({ ...q, [k]: v }) })
  const bad = (field: string) => error !== undefined && fieldOf(error) === field
  const start = async () => {
    const abort = (running.current = new AbortController())
    setBusy(true)
    onBusy(true)
    setError(undefined)
    setSeen([])
    try {
      const r = await search<{ id: string; document: Json; not_kept?: Told }>('bench', requestOf(q, lang), abort.signal, (name, data) => {
        if (name === 'sample') setSeen((s) => grown(s, data as Sample))
      })
      const own = r.id ? undefined : runOf(q.model, r.document)
      onRun(own?.id ?? r.id, own)
      if (r.not_kept) setError(problemOf(r.not_kept))
    } catch (e) {
      if (!abort.signal.aborted) setError(asProblem(e))
    } finally {
      setBusy(false)
      onBusy(false)
    }
  }
  return (
    <Card title={t.measured.measure} id="measure">
      <form
        class="inline"
        onSubmit={(e) => {
          e.preventDefault()
          void start()
        }}
      >
        <Select label={t.measured.service} value={q.url} options={services} bad={bad('url')} whole onChange={(url) => setQ({ ...q, url })} />
        <Field label={t.ask.model} {...on('model')} bad={bad('model')} />
        <Field label={t.serving.isl} {...on('isl')} unit={t.unit.tokens} numeric bad={bad('isl')} />
        <Field label={t.serving.osl} {...on('osl')} unit={t.unit.tokens} numeric bad={bad('osl')} />
        <Field label={t.serving.concurrency} {...on('concurrency')} bad={bad('concurrency')} />
        <Field label={t.measured.perStage} {...on('requests')} unit={t.unit.requests} numeric bad={bad('requests')} />
        {/* Keys: one element for both would turn into the submit button under the click that cancels, and start anew. */}
        {busy ? (
          <button key="cancel" type="button" onClick={() => running.current?.abort()}>{t.cancel}</button>
        ) : (
          <button key="begin" type="submit" class="primary">{t.measured.begin}</button>
        )}
      </form>
      {error && <Failed error={error} />}
      {busy && seen.length > 0 && <Samples seen={seen} />}
    </Card>
  )
}
