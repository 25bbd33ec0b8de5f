import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createTokenLookup,
  TOKEN_MEMORY_MS,
  TOKEN_OUTAGE_MS,
  type TokenLookup,
} from '../../../src/access/token-lookup.ts';
import { Refusal } from '../../../src/core/errors.ts';
import type { Token } from '../../../src/store/access/tokens.ts';

const token: Token = {
  id: 't',
  name: 'ci',
  sha256: 'known',
  scope: 'ingest',
  permissions: null,
  origin: 'issued',
  createdAt: 0,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

let nowMs = 0;
let asked = 0;
let answer: () => Promise<Token | null> = async () => token;
let tokenLookup: TokenLookup;
const lookup = (sha256: string) => tokenLookup.find(sha256, 'remembered');

beforeEach(() => {
  nowMs = 0;
  asked = 0;
  answer = async () => token;
  tokenLookup = createTokenLookup({
    find: () => {
      asked += 1;
      return answer();
    },
    monotonicMs: () => nowMs,
  });
});

describe('the lookup of a token', () => {
  it('the lookup of a token asks once in five seconds, and once for requests at the same time', async () => {
    await Promise.all([lookup('known'), lookup('known'), lookup('known')]);
    nowMs = TOKEN_MEMORY_MS - 1;
    await lookup('known');
    expect(asked).toBe(1);
    nowMs = TOKEN_MEMORY_MS;
    await Promise.all([lookup('known'), lookup('known')]);
    expect(asked).toBe(2);
  });

  it('the lookup of a token asks every time for a request that uses PostgreSQL, but once a second while that is away', async () => {
    await tokenLookup.find('known', 'store');
    await tokenLookup.find('known', 'store');
    expect(asked).toBe(2);
    answer = () => Promise.reject(refused);
    expect(await tokenLookup.find('known', 'store')).toEqual(token);
    expect(await tokenLookup.find('known', 'store')).toEqual(token);
    expect(asked).toBe(3);
  });

  it('the lookup of a token asks again after it was notified that the token has changed, also where it was asking already', async () => {
    await lookup('known');
    tokenLookup.forget('known');
    let arrive: (found: Token) => void = () => undefined;
    answer = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    const before = lookup('known');
    tokenLookup.forget('known');
    arrive(token);
    expect(await before).toEqual(token);
    answer = async () => ({ ...token, revokedAt: 1 });
    expect(await lookup('known')).toBeNull();
  });

  it('the lookup of a token asks again for every token after messages may have been missed, and still knows them in an outage', async () => {
    await lookup('known');
    tokenLookup.distrustAll();
    answer = () => Promise.reject(refused);
    expect(await lookup('known')).toEqual(token);
    expect(asked).toBe(2);
  });

  it('the lookup of a token that was running when messages may have been missed is asked again, and still known in an outage', async () => {
    let arrive: (found: Token) => void = () => undefined;
    answer = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    const before = lookup('known');
    tokenLookup.distrustAll();
    arrive(token);
    expect(await before).toEqual(token);
    answer = () => Promise.reject(refused);
    expect(await lookup('known')).toEqual(token);
    expect(asked).toBe(2);
  });

  it('the lookup of a token works without PostgreSQL for an hour after the last one that succeeded, and no longer', async () => {
    await lookup('known');
    answer = () => Promise.reject(refused);
    nowMs = TOKEN_OUTAGE_MS - 1;
    expect(await lookup('known')).toEqual(token);
    nowMs = TOKEN_OUTAGE_MS + TOKEN_MEMORY_MS;
    await expect(lookup('known')).rejects.toBe(refused);
  });

  it('the lookup of a token asks once a second while PostgreSQL is away, and trusts it again when it is back', async () => {
    await lookup('known');
    answer = () => Promise.reject(refused);
    for (nowMs = TOKEN_MEMORY_MS; nowMs < TOKEN_MEMORY_MS + 3_000; nowMs += 10) await lookup('known');
    expect(asked).toBe(4);
    answer = async () => ({ ...token, revokedAt: 1 });
    nowMs += 1_000;
    expect(await lookup('known')).toBeNull();
  });

  it('the lookup of a token does not wait for a PostgreSQL that does not answer', async () => {
    vi.useFakeTimers();
    try {
      await lookup('known');
      answer = () => new Promise(() => {});
      nowMs = TOKEN_MEMORY_MS;
      const found = lookup('known');
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await found).toEqual(token);
      const unknown = expect(lookup('unknown')).rejects.toBeInstanceOf(Refusal);
      await vi.advanceTimersByTimeAsync(5_000);
      await unknown;
    } finally {
      vi.useRealTimers();
    }
  });

  it('the lookup of a token of a token that nobody used before needs PostgreSQL', async () => {
    answer = () => Promise.reject(refused);
    await expect(lookup('known')).rejects.toBe(refused);
  });

  it('the lookup of a token does not hide a bug with remembered answers', async () => {
    await lookup('known');
    const bug = new TypeError('x is not a function');
    answer = () => Promise.reject(bug);
    nowMs = TOKEN_MEMORY_MS;
    await expect(lookup('known')).rejects.toBe(bug);
  });
});
