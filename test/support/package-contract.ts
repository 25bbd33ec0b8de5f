/** The terms of package-terms.ts for a contract that starts at 2026-01-31T07:00, with dates computed by hand. */
import type { TermsCatalogue } from './contract-terms.ts';
import { everyTemplate } from './package-terms.ts';

const START = '2026-01-31T07:00:00Z';
/** A month later: February has no 31st. */
const FEBRUARY = '2026-02-28T07:00:00Z';
const YEAR_END = '2027-01-31T07:00:00Z';

type Term = Record<string, unknown>;

/** `customer_id` and `starting_at` aside. */
export function everyTermWrittenOut(catalogue: TermsCatalogue): Term {
  const { name: _, duration: __, contract_name: name, ...template } = everyTemplate(catalogue);
  return {
    ...template,
    name,
    ending_before: YEAR_END,
    usage_statement_schedule: {
      frequency: 'MONTHLY',
      day: 'CONTRACT_START',
      invoice_generation_starting_at: FEBRUARY,
    },
    ...balances(template),
    ...dated(template, 'recurring_commits', [
      { starting_at: FEBRUARY, ending_before: '2026-08-28T07:00:00Z' },
    ]),
    ...dated(template, 'recurring_credits', [{ starting_at: START }]),
    ...dated(template, 'overrides', [
      { starting_at: '2026-02-07T07:00:00Z' },
      { starting_at: START, ending_before: '2026-04-30T07:00:00Z' },
      { starting_at: START },
    ]),
    ...dated(template, 'scheduled_charges', [
      {
        schedule: {
          schedule_items: [
            { unit_price: 100, quantity: 1, timestamp: START },
            { unit_price: -10.5, quantity: 2, timestamp: '2026-03-14T07:00:00Z' },
          ],
        },
      },
    ]),
    ...dated(template, 'subscriptions', [
      { seat_config: { seat_group_key: 'user', initial_seat_ids: [], initial_unassigned_seats: 3 } },
      { starting_at: FEBRUARY, ending_before: '2026-08-28T07:00:00Z' },
    ]),
  };
}

function balances(template: Term): Term {
  return {
    ...dated(template, 'commits', [
      {
        access_schedule: {
          schedule_items: [
            { amount: 100_000.5, starting_at: START, ending_before: '2026-07-31T07:00:00Z' },
            {
              amount: 12.125,
              starting_at: '2026-07-31T07:00:00Z',
              ending_before: '2026-08-14T07:00:00Z',
            },
          ],
        },
        invoice_schedule: {
          schedule_items: [
            { unit_price: 40_000, quantity: 2, timestamp: '2026-04-30T07:00:00Z' },
            { unit_price: 0.5, quantity: 3, timestamp: START },
          ],
          do_not_invoice: true,
        },
      },
      {
        access_schedule: {
          schedule_items: [{ amount: 50_000, starting_at: START, ending_before: YEAR_END }],
        },
        invoice_schedule: {
          schedule_items: [{ unit_price: 25_000, quantity: 2, timestamp: YEAR_END }],
        },
      },
    ]),
    ...dated(template, 'credits', [
      {
        access_schedule: {
          ...onlyUnit(template),
          schedule_items: [
            { amount: 12, starting_at: '2026-02-10T07:00:00Z', ending_before: '2026-03-12T07:00:00Z' },
          ],
        },
      },
    ]),
  };
}

/** The unit of the credit, which is not US cents. */
function onlyUnit(template: Term): Term {
  const [credit] = template.credits as { access_schedule: { credit_type_id: string } }[];
  return { credit_type_id: credit?.access_schedule.credit_type_id };
}

/** The templates of a list with dates in place of relative ones. */
function dated(template: Term, list: string, dates: readonly Term[]): Term {
  const terms = (template[list] as Term[]).map((term, index) => {
    const { starting_at_offset: _, duration: __, ...rest } = term;
    return { ...rest, ...dates[index] };
  });
  return { [list]: terms };
}
