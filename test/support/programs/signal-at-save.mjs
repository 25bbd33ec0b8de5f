/**
 * Loaded before a backfill (`--import`): a signal reaches it when the events of a batch are on disk and the
 * progress that says so is about to be. Environment: SIGNAL_AT_SAVE, the signal and the number of the batch.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const [signal, batch] = process.env.SIGNAL_AT_SAVE.split(' ');
const { rename } = fs;
let saves = 0;
fs.rename = async (from, to) => {
  if (to.endsWith('.json')) saves += 1;
  if (saves === Number(batch)) process.kill(process.pid, signal);
  await rename(from, to);
};
syncBuiltinESMExports();
