import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, open, serving, shot, small, test } from './page'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** violations of WCAG 2.2 AA that axe finds on the page as it stands. */
async function violations(page: import('@playwright/test').Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const found = await (window as unknown as { axe: typeof import('axe-core') }).axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
    return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary ?? ''}`))
  })
}

for (const scheme of ['light', 'dark'] as const) {
  for (const [name, hash] of [['training', small], ['serving', serving], ['measured', '#/measured']] as const) {
    test(`${name} in ${scheme} passes axe`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      if (name === 'measured') {
        await page.goto('/' + hash)
        await expect(page.locator('.card')).not.toHaveCount(0)
        await expect(page.locator('.skeleton')).toHaveCount(0)
      } else await open(page, hash)
      await shot(page, `${name}-${scheme}`)
      expect(await violations(page)).toEqual([])
    })
  }
}

test('the theme is switched by hand and stays', async ({ page }) => {
  await open(page, small)
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await ground()
  await page.locator('#theme').selectOption('dark')
  expect(await ground()).not.toBe(light)
  await page.reload()
  await expect(page.locator('#theme')).toHaveValue('dark')
  expect(await ground()).not.toBe(light)
})

test.describe('phone', () => {
  test.use({ viewport: { width: 390, height: 844 } })
  for (const [name, hash] of [['training', small], ['serving', serving]] as const) {
    test(`${name} fits its width`, async ({ page }) => {
      await open(page, hash)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
      await shot(page, `${name}-phone`)
    })
  }
})

test.describe('Vietnamese', () => {
  test.use({ locale: 'vi-VN' })
  test('is spoken where the browser asks for it, and can be switched', async ({ page }) => {
    await open(page, small)
    await expect(page.locator('html')).toHaveAttribute('lang', 'vi')
    await expect(page.locator('#verdict h2')).toHaveText('Kết luận')
    await expect(page.locator('nav')).toContainText('Huấn luyện')
    await shot(page, 'training-vi')
    await page.locator('#language').selectOption('en')
    await expect(page.locator('#verdict h2')).toHaveText('Verdict')
    await page.reload()
    await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  })
})
