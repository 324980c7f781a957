import { expect, test } from './page'

test('the API describes itself, and its forms send their examples', async ({ page }) => {
  const doc = (await (await page.request.get('/openapi.json')).json()) as { paths: Record<string, Record<string, { operationId: string }>> }
  const ids = Object.values(doc.paths).flatMap((methods) => Object.values(methods).map((op) => op.operationId))
  await page.goto('/docs')
  await expect(page.locator('main section')).toHaveCount(ids.length)
  for (const id of ids) await expect(page.locator(`section#${id} h2`)).toBeVisible()
  const schedule = page.locator('section#schedule')
  await expect(schedule.locator('table').first()).toContainText('microbatches')
  await schedule.getByRole('button', { name: 'Send' }).click()
  await expect(schedule.locator('pre')).toContainText(/^200[^]*"bubble_rate"/)
  const gpu = page.locator('section#gpu')
  await gpu.getByRole('textbox').fill('h800')
  await gpu.getByRole('button', { name: 'Send' }).click()
  await expect(gpu.locator('pre')).toContainText('"h800-sxm"')
  await expect(page.locator('section#bench')).toContainText('Event sample')
})

test.describe('Vietnamese', () => {
  test.use({ locale: 'vi-VN' })
  test('the frame of the reference is in the language of the page, which says that the rest is English', async ({ page }) => {
    await page.goto('/docs')
    await expect(page).toHaveTitle('API của Ridgeline')
    await expect(page.locator('html')).toHaveAttribute('lang', 'vi')
    await expect(page.locator('#english')).toContainText('tiếng Anh')
    const schedule = page.locator('section#schedule')
    await expect(schedule.getByRole('columnheader', { name: 'ý nghĩa' }).first()).toBeVisible()
    await expect(page.locator('main')).toHaveAttribute('lang', 'en')
    await schedule.getByRole('button', { name: 'Gửi' }).click()
    await expect(schedule.locator('pre')).toContainText(/^200/)
  })
})
