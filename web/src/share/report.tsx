import { useContext } from 'preact/hooks'
import { download, standalone } from '../chart/export'
import { Subject } from '../chart/figure'
import { useLang } from '../i18n'

/** ReportButton saves the answer as one HTML file: text, tables and pictures, no script, nothing fetched. */
export function ReportButton({ name }: { name: string }) {
  const { t, lang } = useLang()
  const subject = useContext(Subject)
  return (
    <div class="row">
      <button type="button" id="report" onClick={() => download(name.replace(/[^\w.-]+/g, '-') + '.html', reportOf(lang, t.title, subject, t.share.made, t.share.state), 'text/html')}>
        {t.share.report}
      </button>
    </div>
  )
}

/** reportOf copies what the page shows; controls go, pictures become standalone, numbers of pictures stay folded. */
export function reportOf(lang: string, title: string, subject: string, made: string, again: string): string {
  const shown = document.querySelector<HTMLElement>('.main')!
  const copy = shown.cloneNode(true) as HTMLElement
  const drawn = shown.querySelectorAll<SVGSVGElement>('.drawing svg')
  copy.querySelectorAll('.drawing svg').forEach((el, i) => el.replaceWith(standalone(drawn[i]!)))
  const swatches = shown.querySelectorAll<SVGSVGElement>('svg.swatch')
  copy.querySelectorAll('svg.swatch').forEach((el, i) => {
    const s = standalone(swatches[i]!)
    s.querySelector('rect')!.remove() // the ground
    el.replaceWith(s)
  })
  const sliders = shown.querySelectorAll<HTMLInputElement>('.slider .track')
  copy.querySelectorAll('.slider .track').forEach((el, i) => sliders[i] && el.remove())
  copy.querySelectorAll('button.sort, button.pick').forEach((el) => el.replaceWith(...el.childNodes))
  copy.querySelectorAll('button, select, input, datalist, .numbers:not([open]), .exports, .field, .hidden, .segments, .skeleton, .screen').forEach((el) => el.remove())
  for (const el of copy.querySelectorAll('[tabindex]')) el.removeAttribute('tabindex')
  const styles = [...document.styleSheets].flatMap((x) => [...x.cssRules].map((r) => r.cssText)).join('\n')
  const head = document.createElement('h1')
  head.textContent = document.title
  const question = document.createElement('p')
  question.textContent = subject
  const foot = document.createElement('p')
  foot.className = 'note'
  const link = document.createElement('a')
  link.href = location.href
  link.textContent = again
  foot.append(`${made}, ${new Date().toISOString().slice(0, 10)}. `, link)
  const body = document.createElement('div')
  body.className = 'main report'
  body.append(head, question, ...copy.childNodes, foot)
  const theme = document.documentElement.dataset.theme
  const name = document.createElement('title')
  name.textContent = title + ': ' + document.title
  // Put together as text: a style element made here would fall under this page's own policy.
  return `<!doctype html>
<html lang="${lang}"${theme ? ` data-theme="${theme}"` : ''}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${name.outerHTML}
<style>${styles}</style></head>
<body>${body.outerHTML}</body>
</html>
`
}
