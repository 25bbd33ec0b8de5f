/** Values that the parts are shown with. */
import type { Exact } from '../api/exact.ts';

export const USD = { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' };

export const exact = (text: string) => text as unknown as Exact;
