/**
 * Reads what has changed of customers, for many requests together: those that come while a statement is on its way share
 * the next one, so that each sees all changes that were answered before it.
 */
import { AsyncResource } from 'node:async_hooks';
import type { Database } from '../../store/base/database.ts';
import { type AccountSeen, readAccounts } from '../../store/holds/holds.ts';

export interface AccountReader {
  read(customerIds: readonly string[]): Promise<readonly AccountSeen[]>;
}

interface Waiting {
  readonly customerIds: readonly string[];
  resolve(accounts: readonly AccountSeen[]): void;
  reject(error: unknown): void;
}

const GROUP_MAX = 500;

export function createAccountReader(db: Database): AccountReader {
  const waiting: Waiting[] = [];
  let isReading = false;
  // A group of reads belongs to no single request.
  const own = new AsyncResource('hold accounts');

  async function readAll(): Promise<void> {
    if (isReading) return;
    isReading = true;
    while (waiting.length > 0) await readGroup(waiting.splice(0, GROUP_MAX));
    isReading = false;
  }

  async function readGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const accounts = await readAccounts(db, [...new Set(group.flatMap((one) => one.customerIds))]);
      const byId = new Map(accounts.map((account) => [account.customerId, account]));
      for (const { customerIds, resolve } of group) resolve(customerIds.flatMap((id) => byId.get(id) ?? []));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return {
    read: (customerIds) =>
      new Promise((resolve, reject) => {
        waiting.push({ customerIds, resolve, reject });
        own.runInAsyncScope(() => setImmediate(() => void readAll()));
      }),
  };
}
