import { defineConfig } from '@playwright/test'

// The tests drive the real program: `make web-test` builds it and says where it
// lies. Chromium is the system's; the flags keep it from calling home.
const port = Number(process.env.RIDGELINE_PORT ?? 8931)
const given = process.env.RIDGELINE_URL

export default defineConfig({
  testDir: 'test',
  outputDir: 'test-results',
  fullyParallel: true,
  workers: 2,
  timeout: 45_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: {
    baseURL: given ?? `http://127.0.0.1:${port}`,
    viewport: { width: 1400, height: 900 },
    locale: 'en-US',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    },
  },
  webServer: given ? undefined : { command: `../bin/ridgeline web --listen 127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/`, reuseExistingServer: false },
})
