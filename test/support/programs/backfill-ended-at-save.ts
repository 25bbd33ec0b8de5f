/**
 * `npm run backfill` that a signal reaches at a certain instant: SIGNAL N FILE [options], when the events of
 * the N-th batch are on disk and the progress that says so is about to be.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const [signal = '', number = ''] = process.argv.splice(2, 2);
const { rename } = fs;
let saves = 0;
Object.assign(fs, {
  async rename(from: string, to: string) {
    if (to.endsWith('.json')) saves += 1;
    if (saves === Number(number)) process.kill(process.pid, signal);
    await rename(from, to);
  },
});
syncBuiltinESMExports();
await import('../../../src/backfill/main.ts');
