/**
 * Companies whose credits follow their seats, through the first months of a leap year, and their invoices as computed by
 * hand. A call costs 10, a seat 1,000 a month in arrears and without proration, and each seat has credits of 100 a
 * month unless the row says otherwise; they pay for calls alone.
 */
export interface SeatLife {
  readonly name: string;
  /** Named seats have separate credits; a number of seats shares them. */
  readonly seats: readonly string[] | number;
  /** The first day; default: 1 January. */
  readonly start?: string;
  readonly allowance?: number;
  readonly proratesIncreases?: boolean;
  /** By instant: fields of an update of the subscription. */
  readonly changes: Readonly<Record<string, object>>;
  /** The day, who calls, and how often. */
  readonly calls: readonly (readonly [day: string, user: string, count: number])[];
  /** By month: the total, and the lines. A line that a credit pays has a negative amount. */
  readonly invoices: Readonly<Record<string, readonly [total: string, ...lines: readonly string[]]>>;
  /** By month: the entries of its credit. */
  readonly ledgers: Readonly<Record<string, readonly string[]>>;
}

export const day = (text: string) => `2028-${text}T00:00:00Z`;
const add = (on: string, ...seat_ids: string[]) => ({ add_seat_ids: [{ seat_ids, starting_at: day(on) }] });
const remove = (on: string, ...seat_ids: string[]) => ({
  remove_seat_ids: [{ seat_ids, starting_at: day(on) }],
});
const seats = (...updates: readonly object[]) => ({ seat_updates: Object.assign({}, ...updates) });

export const SEAT_LIVES: readonly SeatLife[] = [
  {
    name: 'a seat leaves in the middle of January, and others join',
    seats: ['ada', 'bob'],
    changes: {
      [day('01-15')]: seats(remove('01-15', 'bob')),
      // Two seats have been granted in January: the second one is bob's for the month.
      [day('01-20')]: seats(add('01-20', 'cleo')),
      [day('02-10')]: seats(add('02-10', 'dan')),
      [day('03-01')]: seats(add('03-01', 'bob')),
    },
    calls: [
      ['01-05', 'ada', 8],
      ['01-10', 'bob', 4],
      ['01-18', 'bob', 3],
      ['01-25', 'cleo', 2],
      ['02-05', 'ada', 12],
      ['02-06', 'cleo', 5],
      ['02-08', 'dan', 1],
      ['02-12', 'dan', 11],
      ['03-02', 'bob', 3],
    ],
    invoices: {
      '01': [
        '2050',
        'ada 8 × 10',
        'ada -80',
        'bob 4 × 10',
        'bob -40',
        'bob 3 × 10',
        'cleo 2 × 10',
        '2 × 1000',
      ],
      '02': [
        '3040',
        ...['ada 10 × 10', 'ada -100', 'ada 2 × 10', 'cleo 5 × 10', 'cleo -50'],
        ...['dan 1 × 10', 'dan 10 × 10', 'dan -100', 'dan 1 × 10', '2 × 1000', '1 × 1000'],
      ],
      '03': ['4000', 'bob 3 × 10', 'bob -30', '4 × 1000'],
    },
    ledgers: {
      '01': ['SEGMENT_START 200', 'DEDUCTION -120', 'EXPIRATION -80'],
      '02': [
        ...['SEGMENT_START 200', 'SEAT_BASED_ADJUSTMENT 100'],
        ...['DEDUCTION -150', 'DEDUCTION -100', 'EXPIRATION -50'],
      ],
      '03': ['SEGMENT_START 400', 'DEDUCTION -30', 'EXPIRATION -370'],
    },
  },
  {
    name: 'a seat is away for ten days, and finds what it had left',
    seats: ['bob'],
    changes: {
      [day('02-10')]: seats(remove('02-10', 'bob')),
      [day('02-20')]: seats(add('02-20', 'bob')),
    },
    calls: [
      ['02-05', 'bob', 6],
      ['02-15', 'bob', 2],
      ['02-25', 'bob', 6],
    ],
    invoices: {
      '01': ['1000', '1 × 1000'],
      '02': [
        '1040',
        ...['bob 6 × 10', 'bob -60', 'bob 2 × 10', 'bob 4 × 10', 'bob -40', 'bob 2 × 10', '1 × 1000'],
      ],
      '03': ['1000', '1 × 1000'],
    },
    ledgers: {
      '01': ['SEGMENT_START 100', 'EXPIRATION -100'],
      '02': ['SEGMENT_START 100', 'DEDUCTION -100'],
      '03': ['SEGMENT_START 100', 'EXPIRATION -100'],
    },
  },
  {
    name: 'two seats become four in the middle of a leap February, and all share',
    seats: 2,
    start: '02-01',
    // Ten a day: 15 of 29 days are left of it on the 15th.
    ...{ allowance: 290, proratesIncreases: true },
    changes: { [day('02-15')]: { quantity_updates: [{ starting_at: day('02-15'), quantity: 4 }] } },
    calls: [
      ['02-05', 'ada', 20],
      ['02-20', 'ada', 50],
      ['03-10', 'ada', 100],
    ],
    invoices: {
      '02': ['4000', 'ada 58 × 10', 'ada -580', 'ada 12 × 10', 'ada -120', '2 × 1000', '2 × 1000'],
      '03': ['4000', 'ada 100 × 10', 'ada -1000', '4 × 1000'],
    },
    ledgers: {
      '02': [
        ...['SEGMENT_START 580', 'SEAT_BASED_ADJUSTMENT 300'],
        ...['DEDUCTION -580', 'DEDUCTION -120', 'EXPIRATION -180'],
      ],
      '03': ['SEGMENT_START 1160', 'DEDUCTION -1000', 'EXPIRATION -160'],
    },
  },
  {
    name: 'a quantity becomes seats in the last hour of January',
    seats: 3,
    changes: {
      '2028-01-31T23:00:00Z': {
        quantity_management_mode_update: {
          quantity_management_mode: 'SEAT_BASED',
          seat_config: { seat_group_key: 'user' },
        },
      },
      // Three take the unassigned seats; the fourth is there from the start of February.
      [day('02-01')]: seats(add('02-01', 'ada', 'bob', 'cleo', 'dan')),
      [day('02-15')]: seats(remove('02-15', 'bob')),
    },
    calls: [
      ['01-10', 'ada', 35],
      ['02-10', 'bob', 20],
    ],
    invoices: {
      '01': ['3050', 'ada 30 × 10', 'ada -300', 'ada 5 × 10', '3 × 1000'],
      '02': ['4000', 'bob 20 × 10', 'bob -200', '4 × 1000'],
      '03': ['3000', '3 × 1000'],
    },
    ledgers: {
      '01': ['SEGMENT_START 300', 'DEDUCTION -300'],
      '02': ['SEGMENT_START 400', 'DEDUCTION -200', 'EXPIRATION -200'],
      '03': ['SEGMENT_START 300', 'EXPIRATION -300'],
    },
  },
];
