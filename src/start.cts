/**
 * Starts main with more worker threads. The embedded ClickHouse runs its queries on them, and Node
 * fixes their number the first time one is used, which loading an ES module already does. So it has to
 * be set here, in a CommonJS file. `node dist/main.js` works as well, with Node's default of four.
 */
process.env.UV_THREADPOOL_SIZE ??= '16';
import('./main.js').catch((error: unknown) => {
  process.stderr.write(`tallyhouse: ${String(error)}\n`);
  process.exitCode = 1;
});
