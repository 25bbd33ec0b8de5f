/**
 * Loaded into the service before its own code: tells the benchmark for how long the event loop was held.
 *
 * The time that counts is the CPU time of the main thread between two turns of the loop, so that a machine with
 * other work gives the same figure. Without Linux' /proc it is the time that passed.
 *
 * It looks a thousand times a second, which costs CPU time. So it begins when it is asked for the first time.
 */
const { closeSync, openSync, readSync } = require('node:fs');

const TICK_MS = 1;
const buffer = Buffer.alloc(64);
const statistics = openStatistics();
let isWatching = false;
let longest = 0;

function openStatistics() {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    process.once('exit', () => closeSync(file));
    return file;
  } catch {
    return null;
  }
}

function milliseconds() {
  if (statistics === null) return performance.now();
  const length = readSync(statistics, buffer, 0, buffer.length, 0);
  return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}

function watch() {
  isWatching = true;
  let last = milliseconds();
  setInterval(() => {
    const now = milliseconds();
    longest = Math.max(longest, now - last);
    last = now;
  }, TICK_MS).unref();
}

/** Any message: answers the longest time since the last one, 0 to the first. */
process.on('message', () => {
  if (!isWatching) watch();
  process.send({ longestMs: longest });
  longest = 0;
});
process.channel?.unref();
