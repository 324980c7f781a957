import { useRef, useState } from 'preact/hooks'
import { post, Problem } from '../api/client'
import { asProblem } from '../api/use'
import type { ClusterDoc, ModelDoc } from '../api/types'
import { useLang } from '../i18n'
import { pack } from '../share/pack'
import type { Catalogue } from '../ui/catalogue'
import { Failed, Field, Select } from '../ui/parts'
import type { Training } from '../state'

export const precisions = ['bf16', 'fp16', 'fp8', 'fp8-tensor', 'mxfp8', 'nvfp4']

interface Props {
  s: Training
  set: (change: Partial<Training>) => void
  catalogue: Catalogue
  cluster: ClusterDoc | undefined
  field: string // that the server refused
  busy: boolean
  onSearch: () => void
  onCancel: () => void
}

export function Form({ s, set, catalogue, cluster, field, busy, onSearch, onCancel }: Props) {
  const { t, f } = useLang()
  const device = cluster?.device.figures
  const memory = device?.find((x) => x.name === 'memory')?.peak?.value
  const nic = cluster?.node.nic_bytes_per_second_per_gpu?.value
  return (
    <form
      class="ask"
      onSubmit={(e) => {
        e.preventDefault()
        onSearch()
      }}
    >
      <ModelField model={s.model} config={s.config} models={catalogue.models} set={set} bad={field === 'model'} />
      <Field label={t.ask.cluster} value={s.cluster} onInput={(v) => set({ cluster: v, nic: '', mem: '', nodeGpus: '' })} list={catalogue.clusters} hint={t.ask.clusterHint} bad={field === 'cluster'} id="cluster" />
      <Field label={t.ask.batch} value={s.batch} onInput={(v) => set({ batch: v })} unit={t.unit.sequences} numeric bad={field === 'global_batch'} id="batch" />
      <Field label={t.ask.seq} value={s.seq} onInput={(v) => set({ seq: v })} unit={t.unit.tokens} numeric bad={field === 'seq'} />
      <Select label={t.ask.precision} value={s.precision} options={precisions.includes(s.precision) ? precisions : [...precisions, s.precision]} onChange={(v) => set({ precision: v })} id="precision" />
      <Field label={t.ask.plan} value={s.plan} onInput={(v) => set({ plan: v, pick: '' })} placeholder="pp=16,ep=64" hint={t.ask.planHint} bad={field === 'plan'} />
      <details class="more">
        <summary>{t.ask.edit}</summary>
        <div class="fields">
          <Field label={t.ask.nic} value={s.nic} onInput={(v) => set({ nic: v })} unit="GB/s" numeric placeholder={nic ? f.num(nic / 1e9) : ''} hint={t.ask.perGpu} />
          <Field label={t.ask.memory} value={s.mem} onInput={(v) => set({ mem: v })} unit="GB" numeric placeholder={memory ? f.num(memory / 1e9) : ''} />
          <Field label={t.ask.nodeGpus} value={s.nodeGpus} onInput={(v) => set({ nodeGpus: v })} unit="GPU" numeric placeholder={cluster ? f.int(cluster.node.gpus) : ''} />
          <Field label={t.ask.mtp} value={s.mtp} onInput={(v) => set({ mtp: v })} numeric bad={field === 'mtp'} />
          <Field label={t.ask.tokens} value={s.tokens} onInput={(v) => set({ tokens: v })} placeholder="14.8T" unit={t.unit.tokens} bad={field === 'tokens'} />
          <Field label={t.ask.price} value={s.price} onInput={(v) => set({ price: v })} unit="USD/GPU·h" numeric placeholder="2" bad={field === 'price'} />
        </div>
      </details>
      <div class="go">
        {busy ? (
          <button type="button" onClick={onCancel}>{t.cancel}</button>
        ) : (
          <button type="submit" class="primary">{t.ask.find}</button>
        )}
      </div>
    </form>
  )
}

/** ModelField takes a name of the catalogue, or a config.json dropped on it; a broken file changes nothing. */
export function ModelField(p: { model: string; config: string; models: string[]; set: (c: { model?: string; config?: string }) => void; bad: boolean }) {
  const { t, f } = useLang()
  const [over, setOver] = useState(false)
  const [error, setError] = useState<Problem>()
  const [told, setTold] = useState<ModelDoc>()
  const file = useRef<HTMLInputElement>(null)
  const take = async (x: File | undefined) => {
    if (!x) return
    setError(undefined)
    try {
      const { config, doc } = await readConfig(x, t.drop.notJson(x.name))
      setTold(doc)
      p.set({ config: await pack(config), model: doc.name || x.name.replace(/\.json$/, '') })
    } catch (e) {
      setError(asProblem(e))
    }
  }
  return (
    <div
      class={'drop' + (over ? ' over' : '')}
      onDragOver={(e) => (e.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault()
        setOver(false)
        void take(e.dataTransfer?.files[0])
      }}
    >
      <Field label={t.ask.model} value={p.model} onInput={(v) => (setTold(undefined), setError(undefined), p.set({ model: v, config: '' }))} list={p.models} bad={p.bad} id="model" />
      <div class="row drophint">
        <button type="button" class="quiet" onClick={() => file.current!.click()}>config.json…</button>
        <span class="hint">{p.config ? t.drop.using : t.drop.hint}</span>
        <input ref={file} type="file" accept=".json,application/json" hidden aria-label={t.drop.label} onChange={(e) => void take(e.currentTarget.files?.[0]).then(() => (file.current!.value = ''))} />
      </div>
      {told && <p class="hint good" role="status">{t.drop.read(f.count(told.parameters), f.count(told.active_parameters), told.layers)}</p>}
      {error && <Failed error={error} />}
    </div>
  )
}

async function readConfig(file: File, notJson: string): Promise<{ config: unknown; doc: ModelDoc }> {
  let config: unknown
  try {
    config = JSON.parse(await file.text())
  } catch {
    throw new Problem(notJson, 400)
  }
  return { config, doc: await post<ModelDoc>('models/inspect', config) }
}
