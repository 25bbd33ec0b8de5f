/**
 * Loaded before a program: tells at its end whether it has loaded the SDK of OpenTelemetry, whose packages are CommonJS.
 * prom-client loads its interface in any case.
 */
import { createRequire } from 'node:module';

const { cache } = createRequire(import.meta.url);

process.on('exit', () => {
  const isLoaded = Object.keys(cache).some((file) => /[/]@opentelemetry[/](?!api[/])/.test(file));
  process.stdout.write(`OpenTelemetry is loaded: ${isLoaded}\n`);
});
