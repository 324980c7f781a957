import { useContext } from 'preact/hooks'
import { download } from '../chart/export'
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

/** reportOf copies what the page shows, with its styles, so that it follows its reader's theme; controls go, numbers of pictures that are folded go too. */
export function reportOf(lang: string, title: string, subject: string, made: string, again: string): string {
  const copy = document.querySelector<HTMLElement>('.main')!.cloneNode(true) as HTMLElement
  copy.querySelectorAll('button.sort, button.pick').forEach((el) => el.replaceWith(...el.childNodes))
  copy.querySelectorAll('.slider .track, button, select, input, datalist, .numbers:not([open]), .exports, .field, .hidden, .segments, .skeleton, .screen, [data-screen]').forEach((el) => el.remove())
  for (const el of copy.querySelectorAll('[tabindex]:not(.scroll)')) el.removeAttribute('tabindex')
  // Pictures keep the size at which they were drawn, as their text would shrink with them; a narrow window scrolls them.
  for (const svg of copy.querySelectorAll<SVGSVGElement>('.drawing > svg')) {
    svg.style.width = svg.viewBox.baseVal.width + 'px'
    svg.parentElement!.classList.add('scroll')
    svg.parentElement!.tabIndex = 0
  }
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
  const body = document.createElement('main')
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
