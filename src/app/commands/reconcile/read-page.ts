/** Requests one page of a reconciliation from a running service. */
import { parseJson } from '../../../api/base/json.ts';
import { formatInstant, type Interval } from '../../../core/time.ts';
import { ask, type RunningService } from '../running-service.ts';

export interface Reconciled {
  /** The range of issue dates to compare. */
  readonly range: Interval;
  /** Null: all customers. */
  readonly customerId: string | null;
}

/** `next`: the cursor of the page, null for the first. Numbers in the answer keep all digits. */
export async function readPage(
  service: RunningService,
  path: string,
  { range, customerId }: Reconciled,
  next: string | null,
): Promise<unknown> {
  const query = next === null ? '' : `?${new URLSearchParams({ next_page: next })}`;
  const answer = await ask(service, `${path}${query}`, {
    starting_on: formatInstant(range.start),
    ending_before: formatInstant(range.end),
    ...(customerId === null ? {} : { customer_id: customerId }),
  });
  return parseJson(await answer.text());
}
