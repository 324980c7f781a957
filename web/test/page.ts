import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test as base, type Page } from '@playwright/test'

export { expect }

/** A question that is answered at once: small model, few GPUs, network between two nodes. */
export const small = '#/training?model=llama-3.1-8b&cluster=h100x16&batch=256&precision=bf16'
export const serving = '#/serving?model=llama-3.1-8b&clusters=h100x8%2Ch200x8&spec=none&concurrency=1..64&tpot=20&price=2%2C3'

/** test fails on any error of the page: an exception, a blocked style or script, a failed request. */
export const test = base.extend<{ clean: string[] }>({
  clean: [
    async ({ page }, use) => {
      const wrong: string[] = []
      page.on('pageerror', (e) => wrong.push('exception: ' + e.message))
      page.on('console', (m) => m.type() === 'error' && !(/status of 4(22|00|04)/.test(m.text()) && /\/(clusters|train|inspect|infer|ratio|bench|runs)/.test(m.location().url)) && !/status of 401/.test(m.text()) && wrong.push('console: ' + m.text()))
      page.on('request', (r) => !/^(data:|blob:|http:\/\/127\.0\.0\.1:)/.test(r.url()) && wrong.push('from elsewhere: ' + r.url()))
      page.on('response', (r) => r.status() >= 500 && wrong.push(`${r.status()} ${r.url()}`))
      await use(wrong)
      expect(wrong).toEqual([])
    },
    { auto: true },
  ],
})

/** open a question and wait for its verdict and pictures. */
export async function open(page: Page, hash: string): Promise<void> {
  await page.goto('/' + hash)
  await expect(page.locator('#verdict')).toBeVisible({ timeout: 60_000 }) // a search of millions of plans, on a machine that others load
  await expect(page.locator('.skeleton')).toHaveCount(0)
  await expect(page.locator('.drawing svg').first()).toBeVisible()
}

/** slide moves a range input as a hand does: several steps, then rest. */
export async function slide(page: Page, id: string, to: number): Promise<void> {
  await page.locator('#' + id).evaluate((el: HTMLInputElement, v) => {
    const from = Number(el.value)
    for (const x of [from + (v - from) / 3, from + ((v - from) * 2) / 3, v]) {
      el.value = String(x)
      el.dispatchEvent(new Event('input', { bubbles: true }))
    }
  }, to)
}

export const shot = (page: Page, name: string, fullPage = true) => page.screenshot({ path: `screenshots/${name}.png`, fullPage })

/** drop a file on the page's field for it. */
export async function drop(page: Page, name: string, text: string): Promise<void> {
  const data = await page.evaluateHandle(
    ([n, t]) => {
      const d = new DataTransfer()
      d.items.add(new File([t!], n!, { type: 'application/json' }))
      return d
    },
    [name, text],
  )
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: data })
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** violations of WCAG 2.2 AA that axe finds on the page as it stands. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const found = await (window as unknown as { axe: typeof import('axe-core') }).axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
    return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary ?? ''}`))
  })
}
