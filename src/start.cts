/**
 * Starts main with settings of the process that have to be made before anything is loaded, so in a CommonJS file.
 * `node dist/main.js` works as well, without them. What the operator has set stays.
 */

// The embedded ClickHouse runs its queries on Node's worker threads. Node fixes their number, four by default, the first
// time one is used, which loading an ES module already does. An empty text would be one thread.
process.env.UV_THREADPOOL_SIZE ||= '16';

// How the allocator of the embedded ClickHouse keeps memory. Queries and merges need the same large buffers again and
// again: pages that are free stay for 20 seconds instead of five, and are fetched by two megabytes instead of four
// kilobytes where the system allows it. A page that was given back costs a fault when it is needed again.
process.env.JE_MALLOC_CONF ||= 'thp:always,dirty_decay_ms:20000';

import('./main.js').catch((error: unknown) => {
  process.stderr.write(`tallyhouse: ${String(error)}\n`);
  process.exitCode = 1;
});
