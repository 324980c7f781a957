import type { ComponentChildren } from 'preact'

/** PlanText is a plan that breaks between its keys only. */
export function PlanText({ text, class: name, children }: { text: string; class?: string; children?: ComponentChildren }) {
  const keys = text.split(/(?<=[,;:])/)
  return (
    <code class={['plan', ...(text.length > 36 ? ['long'] : []), ...(name ? [name] : [])].join(' ')}>
      {keys.map((k, i) => (
        <span key={i} class="key">
          {k}
          <wbr />
        </span>
      ))}
      {children}
    </code>
  )
}
