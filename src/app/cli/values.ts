/** Values of options that more than one command has. A refusal names the expected value. */
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type Instant, parseRfc3339 } from '../../core/time.ts';

/** For options that are an integer from 1 on. */
export function countUpTo(max: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max.toLocaleString('en-US')}.`);
  };
}

export function instantOf(text: string): Instant {
  const at = parseRfc3339(text);
  if (at !== null) return at;
  throw new InvalidArgumentError('It must be an RFC 3339 timestamp, such as 2027-01-01T00:00:00Z.');
}

/** A day means its first instant in UTC. */
export function dayOrInstant(text: string): Instant {
  const at = parseRfc3339(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (at !== null) return at;
  throw new InvalidArgumentError('It must be a day such as 2026-11-01, or an RFC 3339 timestamp.');
}

export function httpUrl(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : null;
  if (protocol === 'http:' || protocol === 'https:') return text;
  throw new InvalidArgumentError('It must be an http or https address, such as http://127.0.0.1:3000.');
}

/** A non-empty text of limited length. */
export function textUpTo(max: number): (text: string) => string {
  return (text) => {
    if (text !== '' && text.length <= max) return text;
    throw new InvalidArgumentError(`It must have 1 to ${max} characters.`);
  };
}
