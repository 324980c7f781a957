import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** Card is one section of a page. */
export function Card({ title, children, id, aside }: { title: string; children: ComponentChildren; id?: string; aside?: ComponentChildren }) {
  const head = useId()
  return (
    <section class="card" aria-labelledby={head} id={id}>
      <header>
        <h2 id={head}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

export interface Fact {
  name: string
  value: string
  unit?: string
  note?: string
}

/** Facts are the headline figures. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts">
      {facts.map((x) => (
        <div key={x.name}>
          <dt>{x.name}</dt>
          <dd>
            {x.value}
            {x.unit && <span class="unit"> {x.unit}</span>}
            {x.note && <small>{x.note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
