/** In which order the invoices of a run are computed. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inReadingOrder } from '../../../src/billing/invoices/compute/compute-run.ts';
import { groupBy } from '../../../src/core/group-by.ts';

interface Given {
  readonly customer: number;
  /** Customers of one family share balances; null: the customer has none. */
  readonly family: number | null;
}

const given = fc
  .array(fc.option(fc.nat(3)), { minLength: 1, maxLength: 8 })
  .chain((families) =>
    fc
      .array(fc.nat(families.length - 1), { maxLength: 20 })
      .map((customers) =>
        customers.map((customer): Given => ({ customer, family: families[customer] ?? null })),
      ),
  );

test('invoices that draw on the same balances stay together in their order, the others follow their references', () => {
  fc.assert(
    fc.property(given, (all) => {
      const shared = [{}, {}, {}, {}];
      const planned = all.map(({ customer }, index) => ({
        target: { contract: { id: `contract-${index}`, customerId: `customer-${customer}` } },
      }));
      const refOf = (customer: number) => `alias-${(customer * 5) % 8}`;
      const contracts = new Map(
        all.map(({ customer }, index) => [
          `contract-${index}`,
          { customerRefs: [`customer-${customer}`, refOf(customer)] },
        ]),
      );
      const balances = new Map(
        all.flatMap(({ customer, family }) => {
          const own = family === null ? undefined : shared[family];
          return own === undefined ? [] : [[`customer-${customer}`, own] as const];
        }),
      );
      const ordered = inReadingOrder(planned, { contracts, balances });
      const places = ordered.map((one) => planned.indexOf(one));
      expect(places.toSorted((a, b) => a - b)).toEqual(planned.map((_, index) => index));
      const unitOf = (place: number) => {
        const { customer = 0, family = null } = all[place] ?? {};
        return family === null ? `customer ${customer}` : `family ${family}`;
      };
      const units = [...groupBy(places, unitOf)];
      // Each unit is one stretch of the order.
      expect(units.flatMap(([, own]) => own)).toEqual(places);
      for (const [, own] of units) expect(own).toEqual(own.toSorted((a, b) => a - b));
      const refs = units.map(([, [first = 0]]) => refOf(all[first]?.customer ?? 0));
      expect(refs).toEqual(refs.toSorted());
    }),
  );
});
