/** Opens the ClickHouse in the directory named by its argument, holds its merges back, says so, and waits to be killed. */
import { createEmbeddedClickHouse } from '../../../src/app/stores/stores.ts';
import { withHeldMerges } from '../../../src/metering/client/held-merges.ts';

await withHeldMerges(await createEmbeddedClickHouse({ directory: process.argv[2] ?? '' }));
process.stdout.write('held\n');
setInterval(() => {}, 60_000);
