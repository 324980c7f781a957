import { defineConfig } from 'vite'

// The page lies where the Go package embeds it. No asset is inlined, so that the
// content security policy needs no data: scripts or styles.
export default defineConfig({
  base: '/',
  build: {
    outDir: '../internal/web/dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: true,
  },
  // `npm run dev` beside `ridgeline web`: the API is the real one.
  server: { proxy: { '/api': { target: 'http://127.0.0.1:8787', changeOrigin: true, headers: { Origin: 'http://127.0.0.1:8787' } } } },
})
