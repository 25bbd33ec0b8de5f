/** Checks that a server's clock agrees with ours. */
import { SECOND_MS } from '../../../core/time.ts';
import { type Finding, fine, wrong } from './finding.ts';

/** The maximum difference: events, invoices and deadlines of two machines would differ by it. */
const APART_MS_MAX = 5 * SECOND_MS;

/** `serverNow` was read between our times `before` and `after`, all in milliseconds since 1970. */
export function checkClock(server: string, serverNow: number, before: number, after: number): Finding {
  const apart = Math.max(before - serverNow, serverNow - after, 0);
  if (apart <= APART_MS_MAX) return fine('clock', `that of ${server} agrees with this machine's`);
  const seconds = Math.round(apart / SECOND_MS);
  const side = serverNow < before ? 'behind' : 'ahead of';
  return wrong('clock', `that of ${server} is ${seconds} s ${side} this machine's: set both by NTP`);
}
