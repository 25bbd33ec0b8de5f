/**
 * The messages of an offset notification about the children of a recurring term over its life, against a naive list of
 * all grants of the term: each once, at its instant, whether the child exists by then or not.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Granting,
  grantingOf,
  missingGrants,
  nextGrantAt,
} from '../../src/billing/contracts/grants/granted-terms.ts';
import { upcomingOf } from '../../src/billing/contracts/grants/upcoming-grants.ts';
import type { SignedDuration } from '../../src/core/signed-duration.ts';
import type { Commit } from '../../src/core/terms/commits.ts';
import { RECURRENCE_FREQUENCIES } from '../../src/core/terms/recurring-commits.ts';
import { DAY_MS, HOUR_MS, type Instant } from '../../src/core/time.ts';
import {
  inOrder,
  newMessages,
  segmentInstants,
  upcomingMessages,
  type WantedByType,
} from '../../src/notifications/due-messages.ts';
import { grantStart } from '../../src/rating/balances/recurring-grants.ts';
import type { NewScheduledMessage } from '../../src/store/lifecycle-messages/scheduled-messages.ts';
import { naiveGrants } from '../support/naive/recurring-grants.ts';
import { runs } from '../support/shares-of-tests.ts';
import { contractWith, recurringWith } from '../unit/core/terms/fixtures.ts';

const CREATED_AT = Date.UTC(2027, 0, 5);
/** Daily terms have a child for each day of the lead, in each of their jobs. */
const lifeMs = ({ recurrenceFrequency }: { readonly recurrenceFrequency: string | null }) =>
  (recurrenceFrequency === 'DAILY' ? 50 : 400) * DAY_MS;
/** A job runs late by less than the shortest lead, so that nothing is due only after its event. */
const LATEST_JOB_MS = 20 * HOUR_MS;

const days = (max: number) => fc.integer({ min: 0, max }).map((count) => count * DAY_MS);
const lead = fc.oneof(
  fc.integer({ min: 1, max: 250 }).map((count) => ({ months: 0, milliseconds: -count * DAY_MS })),
  fc.integer({ min: 1, max: 10 }).map((count) => ({ months: -count, milliseconds: 0 })),
  fc.constant({ months: -1, milliseconds: -3 * DAY_MS }),
);

const cases = fc.record({
  schedule: fc.record({
    frequency: fc.constantFrom('WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'),
    day: fc.constantFrom('FIRST_OF_MONTH', 'CONTRACT_START'),
    anchor: fc.constant(null),
  }),
  contractLength: fc.option(days(700)),
  termAfter: days(100),
  termLength: fc.option(days(400)),
  recurrenceFrequency: fc.constantFrom(null, ...RECURRENCE_FREQUENCIES),
  commitDurationPeriods: fc.integer({ min: 1, max: 4 }),
  event: fc.constantFrom('commit.segment.start', 'commit.segment.end'),
  leads: fc.array(lead, { minLength: 1, maxLength: 3 }),
  lateMs: fc.constantFrom(0, HOUR_MS, LATEST_JOB_MS),
});

test('each child of a recurring term has one message, if that is due after the term was created', () => {
  fc.assert(
    fc.property(
      cases,
      ({ schedule, contractLength, termAfter, termLength, event, leads, lateMs, ...plain }) => {
        const contract = contractWith({
          startingAt: CREATED_AT,
          endingBefore: contractLength === null ? null : CREATED_AT + DAY_MS + contractLength,
          statementSchedule: schedule,
        });
        const startingAt = CREATED_AT + termAfter;
        const term = recurringWith({
          ...plain,
          startingAt,
          endingBefore: termLength === null ? null : startingAt + DAY_MS + termLength,
        });
        const granting = { ...grantingOf(contract), recurring: [term] };
        const end = CREATED_AT + lifeMs(term);
        const told = toldInLife(granting, wantedOf(event, leads), { end, lateMs });
        const expected = naiveGrants(term, contract.contract, end + 500 * DAY_MS).flatMap(({ from, until }) =>
          leads.map((offset, index) => {
            const eventAt = event === 'commit.segment.start' ? from : until;
            return { offsetId: String(index), eventAt, fireAt: naiveShift(eventAt, offset) };
          }),
        );
        const inLife = expected.filter(({ fireAt }) => fireAt > CREATED_AT && fireAt <= end);
        const keyOf = (one: (typeof inLife)[number] | NewScheduledMessage) =>
          `${one.offsetId} ${one.eventAt}${lateMs === 0 ? ` ${one.fireAt}` : ''}`;
        expect(told.map(keyOf).toSorted()).toEqual(inLife.map(keyOf).toSorted());
        expect(told.every(({ fireAt, eventAt }) => fireAt < eventAt)).toBe(true);
      },
    ),
    { numRuns: runs(200) },
  );
});

const wantedOf = (type: string, leads: readonly SignedDuration[]): WantedByType =>
  new Map([[type, leads.map((offset, index) => ({ offsetId: String(index), offset, since: 0 }))]]);

/**
 * Runs the jobs of the term, each with this delay, and records the messages that are sent. The schedule keeps a message
 * once.
 */
function toldInLife(
  granting: Granting,
  wanted: WantedByType,
  { end, lateMs }: { readonly end: Instant; readonly lateMs: number },
): NewScheduledMessage[] {
  const last = new Map<string, Instant>();
  const scheduled = new Map<string, NewScheduledMessage>();
  const told: NewScheduledMessage[] = [];
  const tellUntil = (until: Instant) => {
    for (const [key, message] of scheduled) {
      if (message.fireAt > until) continue;
      told.push(message);
      scheduled.delete(key);
    }
  };
  let now = CREATED_AT;
  let dueAfter = CREATED_AT;
  for (;;) {
    const children = missingGrants(granting, last, { now, max: 10_000 });
    for (const child of children) last.set(child.recurringCommitId ?? '', grantStart(child));
    const dueUntil = nextGrantAt(granting, last, now);
    const messages = [
      ...children.flatMap((child) => newMessages(createdOf(child, dueAfter), wanted, now)),
      ...upcomingMessages(upcomingOf(granting, last, { dueAfter, dueUntil }), wanted, now),
    ];
    for (const message of inOrder(messages, now)) {
      const key = `${message.subjectId} ${message.offsetId} ${message.eventAt}`;
      if (!scheduled.has(key)) scheduled.set(key, message);
    }
    if (dueUntil === null || dueUntil > end) break;
    now = Math.max(now, dueUntil + lateMs);
    tellUntil(now);
    dueAfter = dueUntil;
  }
  tellUntil(end);
  return told;
}

function createdOf(child: Commit, dueAfter: Instant) {
  return { before: [], after: segmentInstants(child), change: null, archived: [], dueAfter };
}

/** Months step by step on the calendar. */
function naiveShift(at: Instant, { months, milliseconds }: SignedDuration): Instant {
  const date = new Date(at);
  const total = date.getUTCFullYear() * 12 + date.getUTCMonth() + months;
  const [year, month] = [Math.floor(total / 12), total % 12];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const time = at % DAY_MS;
  return Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay)) + time + milliseconds;
}
