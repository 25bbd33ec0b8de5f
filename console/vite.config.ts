import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npx vite console` finds a running service. */
const SERVICE = 'http://127.0.0.1:3000';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react()],
  // The service puts the nonce of each answer in its place (src/api/http/console-files.ts).
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Nothing is written into the page itself: its policy takes files of the service only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // A slow machine is no fault of the build.
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: ['index.html', 'dashboard.html'].map((page) => fileURLToPath(new URL(page, import.meta.url))),
    },
  },
  server: { proxy: { '/v1': SERVICE, '/v2': SERVICE, '/console/session': SERVICE, '/readyz': SERVICE } },
});
