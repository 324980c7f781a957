import { useState } from 'preact/hooks'
import { post } from '../api/client'
import type { ClusterDoc, ModelDoc } from '../api/catalogue'
import { useLang } from '../i18n'
import { pack } from '../share/pack'
import type { Training } from '../state'
import type { Catalogue } from '../ui/catalogue'
import { Drop } from '../ui/drop'
import { Field, More, Select } from '../ui/field'

export const precisions = ['bf16', 'fp16', 'fp8', 'fp8-tensor', 'mxfp8', 'nvfp4']

// The products of each recipe, as the figures of a device name them.
const products: Record<string, string> = { bf16: 'bf16', fp16: 'fp16', fp8: 'fp8-block', 'fp8-tensor': 'fp8', mxfp8: 'mxfp8', nvfp4: 'nvfp4' }

/** lacks tells that a machine has no rate for a precision; of one not known yet nothing is said. */
export const lacks = (precision: string, c: ClusterDoc | undefined): boolean =>
  c !== undefined && products[precision] !== undefined && !c.device.figures.some((x) => x.name === products[precision] + ' matrix')

interface Props {
  s: Training
  set: (change: Partial<Training>) => void
  catalogue: Catalogue
  cluster: ClusterDoc | undefined
  field: string // that the server refused
}

// Fields of the fold, as refusals name them.
const folded = ['nic', 'mem', 'nodeGpus', 'mtp', 'tokens', 'price']

/** Fields of a question about training. */
export function Fields({ s, set, catalogue, cluster, field }: Props) {
  const { t, f } = useLang()
  const device = cluster?.device.figures
  const figure = device?.find((x) => x.name === 'memory')
  const memory = (figure?.achieved ?? figure?.peak)?.value
  const nic = cluster?.node.nic_bytes_per_second_per_gpu?.value
  return (
    <>
      <ModelField model={s.model} config={s.config} models={catalogue.models} set={set} bad={field === 'model'} />
      <Field label={t.ask.cluster} value={s.cluster} onInput={(v) => set({ cluster: v, nic: '', mem: '', nodeGpus: '' })} list={catalogue.clusters} hint={t.ask.clusterHint} bad={field === 'cluster'} id="cluster" />
      <Field label={t.ask.batch} value={s.batch} onInput={(v) => set({ batch: v })} unit={t.unit.sequences} numeric bad={field === 'global_batch'} id="batch" />
      <Field label={t.ask.seq} value={s.seq} onInput={(v) => set({ seq: v })} unit={t.unit.tokens} numeric bad={field === 'seq'} />
      <Select label={t.ask.precision} value={s.precision} options={precisions.includes(s.precision) ? precisions : [...precisions, s.precision]} off={(p) => lacks(p, cluster)} onChange={(v) => set({ precision: v })} id="precision" />
      <Field label={t.ask.plan} value={s.plan} onInput={(v) => set({ plan: v, pick: '' })} placeholder="pp=16,ep=64" hint={t.ask.planHint} bad={field === 'plan'} />
      <More summary={t.ask.edit} bad={folded.includes(field)}>
        <Field label={t.ask.nic} value={s.nic} onInput={(v) => set({ nic: v })} unit="GB/s" numeric bad={field === 'nic'} placeholder={nic ? f.num(nic / 1e9) : ''} hint={t.ask.perGpu} />
        <Field label={t.ask.memory} value={s.mem} onInput={(v) => set({ mem: v })} unit="GB" numeric bad={field === 'mem'} placeholder={memory ? f.num(memory / 1e9) : ''} />
        <Field label={t.ask.nodeGpus} value={s.nodeGpus} onInput={(v) => set({ nodeGpus: v })} unit="GPU" numeric bad={field === 'nodeGpus'} placeholder={cluster ? f.int(cluster.node.gpus) : ''} />
        <Field label={t.ask.mtp} value={s.mtp} onInput={(v) => set({ mtp: v })} numeric bad={field === 'mtp'} />
        <Field label={t.ask.tokens} value={s.tokens} onInput={(v) => set({ tokens: v })} placeholder={t.ask.tokensExample} unit={t.unit.tokens} bad={field === 'tokens'} />
        <Field label={t.ask.price} value={s.price} onInput={(v) => set({ price: v })} unit="USD/GPU·h" numeric placeholder="2" bad={field === 'price'} />
      </More>
    </>
  )
}

/** fileModel is what a dropped file's name says of its model: org/name for org--name_config.json; config.json says nothing. */
export function fileModel(file: string): string {
  const hub = /^(.+?)--(.+)_config\.json$/.exec(file)
  return hub ? `${hub[1]}/${hub[2]}` : file === 'config.json' ? file : file.replace(/\.json$/i, '')
}

/** ModelField takes a name of the catalogue, or a config.json dropped on it; a broken file changes nothing. */
export function ModelField(p: { model: string; config: string; models: string[]; set: (c: { model?: string; config?: string }) => void; bad: boolean }) {
  const { t, f } = useLang()
  const [told, setTold] = useState<ModelDoc>()
  return (
    <Drop
      button="config.json…"
      label={t.drop.label}
      hint={p.config ? t.drop.using : t.drop.hint}
      notJson={t.drop.notJson}
      take={async (name, config) => {
        const doc = await post<ModelDoc>('models/inspect', config)
        setTold(doc)
        p.set({ config: await pack(config), model: fileModel(name) })
      }}
      above={<Field label={t.ask.model} value={p.model} onInput={(v) => (setTold(undefined), p.set({ model: v, config: '' }))} list={p.models} bad={p.bad} id="model" />}
      below={told && <p class="hint good" role="status">{t.drop.read(f.count(told.parameters), f.count(told.active_parameters), told.layers)}</p>}
    />
  )
}
