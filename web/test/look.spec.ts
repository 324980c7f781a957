import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { drop, expect, open, serving, shot, slide, small, test, violations } from './page'

/** Views are all that the page can look like, with what brings each about. */
const views: Record<string, (page: Page) => Promise<void>> = {
  training: (page) => open(page, small),
  'training-moved': async (page) => {
    await open(page, small)
    await slide(page, 'wall-net', -4)
    await expect(page.locator('#walls-verdict')).toContainText('flips')
  },
  'training-nothing-fits': (page) => open(page, '#/training?model=llama-3.1-405b&cluster=h100x8&batch=256&precision=bf16'),
  'training-refused': async (page) => {
    await page.goto('/' + small.replace('h100x16', 'h1000x16'))
    await expect(page.locator('.failed').first()).toBeVisible()
  },
  'training-waiting': async (page) => {
    await page.goto('/#/training?cluster=h100x16384&batch=61440&precision=bf16')
    await expect(page.locator('.waiting')).toBeVisible()
  },
  'training-empty': async (page) => {
    await page.route('**/api/v1/train', (r) => new Promise(() => r)) // never answered
    await page.goto('/' + small)
    await page.locator('.go').getByRole('button').click()
    await expect(page.locator('.empty')).toBeVisible()
  },
  serving: (page) => open(page, serving),
  'serving-missed': (page) => open(page, serving.replace('tpot=20', 'tpot=0.001')),
  measured: async (page) => {
    await page.goto('/#/measured')
    await expect(page.locator('.card')).not.toHaveCount(0)
    await expect(page.locator('.skeleton')).toHaveCount(0)
  },
  'measured-runs': async (page) => {
    await page.goto('/#/measured')
    for (const name of ['bench-a100', 'bench-h100']) await drop(page, name + '.json', readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'))
    await page.locator('#other').selectOption({ index: 1 })
    await expect(page.locator('#figures tbody tr').first()).toBeVisible()
  },
  'measured-validation': async (page) => {
    await page.goto('/#/measured')
    await drop(page, 'v.json', readFileSync(new URL('fixtures/validate-training.json', import.meta.url), 'utf8'))
    await expect(page.locator('#figure-gap-groups svg')).toBeVisible()
  },
  api: async (page) => {
    await page.goto('/docs')
    await expect(page.locator('main section')).not.toHaveCount(0)
  },
}

for (const scheme of ['light', 'dark'] as const) {
  for (const [name, show] of Object.entries(views)) {
    test(`${name} in ${scheme} passes axe`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      await show(page)
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
  for (const [name, hash, column] of [['training', small, 'Bound by'], ['serving', serving, 'Plan']] as const) {
    test(`${name} fits its width`, async ({ page }) => {
      await open(page, hash)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
      await shot(page, `${name}-phone`)
      const head = page.locator('main table').first().getByRole('columnheader', { name: column })
      await head.scrollIntoViewIfNeeded()
      const at = (await head.boundingBox())!
      expect(at.x + at.width).toBeLessThanOrEqual(390) // without moving the table
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
    const assumed = page.locator('details.notes', { hasText: 'Giả định' }).first()
    await assumed.locator('summary').click()
    await expect(assumed.locator('li').first()).toContainText('chưa đo')
    await expect(assumed.locator('li[lang=en]')).toHaveCount(0)
    await page.locator('#language').selectOption('en')
    await expect(page.locator('details.notes li[lang=en]').first()).toContainText('not measured')
    await expect(page.locator('#verdict h2')).toHaveText('Verdict')
    await page.reload()
    await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  })

  test('a deployment’s doubts are said, with the experts that a step reads', async ({ page }) => {
    await open(page, '#/serving?model=qwen3-30b-a3b&clusters=mi300x8&spec=none&concurrency=64&plan=tp%3D8')
    await expect(page.locator('#verdict')).toContainText('Chuyên gia được đọc')
    await expect(page.locator('#verdict')).toContainText('trên 128 mỗi lớp')
    for (const d of await page.locator('details.notes').all()) await d.locator('summary').click()
    await expect(page.locator('details.notes')).toHaveCount(2)
    await expect(page.locator('details.notes').first()).toContainText('bản KV')
    await expect(page.locator('details.notes li[lang=en]')).toHaveCount(0)
    await shot(page, 'serving-vi')
  })

  test('what a form gets wrong is said, and waits are hatched in the dark too', async ({ page }) => {
    await page.emulateMedia({ colorScheme: 'dark' })
    await open(page, '#/training?model=mixtral-8x7b&cluster=h100x16&batch=256&precision=bf16&plan=pp%3D2%2Cep%3D8')
    await expect(page.locator('#figure-timeline')).toContainText('Phần gạch chéo')
    await page.locator('#figure-timeline').screenshot({ path: 'screenshots/timeline-vi-dark.png' })
    await page.goto('/' + small.replace('h100x16', 'h1000x16'))
    await expect(page.locator('.failed').first()).toContainText('gần nhất là')
    await page.goto('/' + small + '&plan=tp%3D3')
    await expect(page.locator('.failed').first()).toContainText('không lấp đầy 16 GPU')
  })
})
