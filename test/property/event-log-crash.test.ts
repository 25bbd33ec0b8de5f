/**
 * The process is killed at any moment: while it writes the log, between the log and ClickHouse, in an insert, while it
 * takes up the log, several times in a row. Every acknowledged event is stored, and counts exactly once.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { type Program, runProgram } from '../support/child-process.ts';
import { createTestDirectory } from '../support/stores.ts';

/** 1,000 in the long command, unless CRASH_ROUNDS says how many. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? (inject('isThorough') ? 1_000 : 4));
/** Directories side by side: a process waits for the disk, and for its end. */
const LANES = 3;
/** Every fourth round ends while the events of the one before are taken up. */
const ROUNDS_PER_EARLY_DEATH = 4;
/** The directory of events grows, and with it the time of a start. */
const ROUNDS_PER_DIRECTORY = Math.min(50, Math.max(ROUNDS_PER_EARLY_DEATH, Math.ceil(ROUNDS / LANES)));
/** More events than one round makes. */
const EVENTS_PER_ROUND_MAX = 1_000_000;
const INGEST_MS_MAX = 1_500;
const OPENING_MS_MAX = 400;

/** The work of the process when it was killed. It writes the log all the time, except while it takes the log up. */
type Moment = 'taking up the log' | 'inserting' | 'between inserts';
const deaths: Record<Moment, number> = { 'taking up the log': 0, inserting: 0, 'between inserts': 0 };

const start = (dataDir: string, first: number, mode: string): Program =>
  runProgram('test/support/programs/ingest-until-killed.ts', [dataDir, String(first), mode]);

function linesOf(program: Program, kind: string): number[][] {
  const lines = program.stdout().split('\n').slice(0, -1);
  return lines
    .filter((line) => line.startsWith(`${kind} `))
    .map((line) => line.split(' ').slice(1).map(Number));
}

async function kill(program: Program): Promise<void> {
  program.child.kill('SIGKILL');
  await program.ended;
}

function momentOf(program: Program): Moment {
  if (!program.stdout().includes('ready\n')) return 'taking up the log';
  const isInserting = linesOf(program, 'inserting').length > linesOf(program, 'inserted').length;
  return isInserting ? 'inserting' : 'between inserts';
}

/** Processes of which a request was answered after ids had been looked up in files. */
let lookingUp = 0;

/** Returns the acknowledged events. */
async function round(dataDir: string, number: number): Promise<number[]> {
  const program = start(dataDir, number * EVENTS_PER_ROUND_MAX, 'ingest');
  if (number % ROUNDS_PER_EARLY_DEATH === ROUNDS_PER_EARLY_DEATH - 1) {
    await program.said('opened');
    await delay(Math.random() * OPENING_MS_MAX);
  } else {
    // In every fourth round, whatever the speed of the machine, after ids of the process before were looked up.
    await program.said(number % ROUNDS_PER_EARLY_DEATH === 1 ? 'looked up' : 'ready');
    await delay(Math.random() * INGEST_MS_MAX);
  }
  await kill(program);
  deaths[momentOf(program)] += 1;
  expect(linesOf(program, 'error')).toEqual([]);
  if (linesOf(program, 'looked').length > 0) lookingUp += 1;
  return linesOf(program, 'ack').flat();
}

/** One process after the other on one directory. Returns how many events were acknowledged. */
async function directoryOf(rounds: number): Promise<number> {
  const dataDir = join(await createTestDirectory(), 'data');
  const acknowledged = new Set<number>();
  for (let number = 0; number < rounds; number += 1) {
    for (const n of await round(dataDir, number)) acknowledged.add(n);
  }
  const last = start(dataDir, 0, 'check');
  expect({ code: await last.ended, said: last.stderr() }).toEqual({ code: 0, said: '' });
  const stored = new Map(linesOf(last, 'stored').map(([n = 0, copies = 0]) => [n, copies]));
  expect([...acknowledged].filter((n) => !stored.has(n))).toEqual([]);
  expect([...stored].filter(([, copies]) => copies !== 1)).toEqual([]);
  await rm(dataDir, { recursive: true, force: true });
  return acknowledged.size;
}

it(`the service loses nothing acknowledged and counts nothing twice over ${ROUNDS} kills`, async () => {
  let acknowledged = 0;
  let left = ROUNDS;
  const lane = async () => {
    while (left > 0) {
      const rounds = Math.min(left, ROUNDS_PER_DIRECTORY);
      left -= rounds;
      acknowledged += await directoryOf(rounds);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  expect(acknowledged).toBeGreaterThan(ROUNDS * 10);
  expect(lookingUp).toBeGreaterThan(0);
  if (inject('isThorough')) {
    process.stdout.write(`${acknowledged} events acknowledged; kills: ${JSON.stringify(deaths)}\n`);
  }
}, 10_800_000);
