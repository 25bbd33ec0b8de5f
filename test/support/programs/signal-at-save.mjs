/**
 * Loaded before a backfill (`--import`). The signal arrives when the events of a batch are on disk and its progress is
 * about to be saved, or when a file is recorded as loaded and its progress is about to be removed.
 * Environment: SIGNAL_AT_SAVE, the signal, the number of the batch or file, and `save` or `remove`.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const [signal, batch, moment = 'save'] = process.env.SIGNAL_AT_SAVE.split(' ');
const { rename, rm } = fs;
let saves = 0;
let removals = 0;
fs.rename = async (from, to) => {
  if (to.endsWith('.json')) saves += 1;
  if (moment === 'save' && saves === Number(batch)) process.kill(process.pid, signal);
  await rename(from, to);
};
fs.rm = async (path, options) => {
  if (path.endsWith('.json')) removals += 1;
  if (moment === 'remove' && removals === Number(batch)) process.kill(process.pid, signal);
  await rm(path, options);
};
syncBuiltinESMExports();
