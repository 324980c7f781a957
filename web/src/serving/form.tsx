import { useLang } from '../i18n'
import type { Serving } from '../state'
import { ModelField } from '../training/form'
import type { Catalogue } from '../ui/catalogue'
import { Field, More, Select } from '../ui/field'

interface Props {
  s: Serving
  set: (c: Partial<Serving>) => void
  catalogue: Catalogue
  field: string // that the server refused
}

const formats = ['bf16', 'fp8', 'fp8-block', 'int8', 'nvfp4', 'mxfp4', 'int4']

// Fields of the fold, as refusals name them.
const folded = ['plan', 'net_rtt', 'weights', 'kv', 'engine']

/** Fields of a question about serving. */
export function Fields({ s, set, catalogue, field }: Props) {
  const { t } = useLang()
  const on = <K extends keyof Serving>(k: K) => ({ value: s[k], onInput: (v: string) => set({ [k]: v }) })
  return (
    <>
      <ModelField model={s.model} config={s.config} models={catalogue.models} set={set} bad={field === 'model'} />
      <Field label={t.serving.clusters} {...on('clusters')} list={catalogue.clusters} hint={t.serving.clustersHint} bad={field === 'cluster'} id="clusters" />
      <Field label={t.serving.isl} {...on('isl')} unit={t.unit.tokens} numeric bad={field === 'isl'} />
      <Field label={t.serving.osl} {...on('osl')} unit={t.unit.tokens} numeric bad={field === 'osl'} />
      <Field label={t.serving.concurrency} {...on('concurrency')} hint={t.serving.concurrencyHint} bad={field === 'concurrency'} />
      <Field label={t.serving.ttft} {...on('ttft')} unit="s" numeric bad={field === 'ttft' || field === 'slo'} />
      <Field label={t.serving.tpot} {...on('tpot')} unit="ms" numeric bad={field === 'tpot' || field === 'slo'} id="tpot" />
      <Field label={t.serving.spec} {...on('spec')} hint={t.serving.specHint} bad={field === 'spec'} />
      <Field label={t.ask.price} {...on('price')} unit="USD/GPU·h" bad={field === 'price'} />
      <More summary={t.serving.edit} bad={folded.includes(field)}>
        <Field label={t.ask.plan} {...on('plan')} placeholder="tp=8" hint={t.ask.planHint} bad={field === 'plan'} />
        <Field label={t.serving.over} {...on('over')} placeholder="tp=8 | dp=8,ep=8" hint={t.serving.overHint} />
        <Select label={t.serving.weights} value={s.weights} options={[['', t.serving.asCheckpoint], ...formats]} onChange={(v) => set({ weights: v })} />
        <Select label={t.serving.kv} value={s.kv} options={[['', 'bf16'], 'fp8']} onChange={(v) => set({ kv: v })} />
        <Field label={t.serving.rtt} {...on('rtt')} hint={t.serving.rttHint} bad={field === 'net_rtt'} />
        <Select label={t.serving.engine} value={s.engine} options={[['', t.serving.engineAny], 'vllm', 'sglang', 'trtllm', ['other', t.serving.engineOther]]} onChange={(v) => set({ engine: v })} />
      </More>
    </>
  )
}
