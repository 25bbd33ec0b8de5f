/**
 * Ids in the examples of requests: one for each kind of object, which readers replace by their own. The test of
 * the examples replaces them by ids of objects that exist.
 */
export const EXAMPLE_IDS = {
  customer: 'c0000000-0000-4000-8000-000000000001',
  metric: 'c0000000-0000-4000-8000-000000000002',
  usageProduct: 'c0000000-0000-4000-8000-000000000003',
  fixedProduct: 'c0000000-0000-4000-8000-000000000004',
  subscriptionProduct: 'c0000000-0000-4000-8000-000000000005',
  rateCard: 'c0000000-0000-4000-8000-000000000006',
  /** With prices of models that the service keeps. */
  managedRateCard: 'c0000000-0000-4000-8000-00000000001a',
  contract: 'c0000000-0000-4000-8000-000000000007',
  commit: 'c0000000-0000-4000-8000-000000000008',
  /** A stretch of the access schedule of the commit. */
  segment: 'c0000000-0000-4000-8000-000000000009',
  /** POSTPAID, of the contract. */
  contractCommit: 'c0000000-0000-4000-8000-00000000000a',
  /** A commit of the contract that waits for its payment. */
  gatedCommit: 'c0000000-0000-4000-8000-00000000000b',
  credit: 'c0000000-0000-4000-8000-00000000000c',
  subscription: 'c0000000-0000-4000-8000-00000000000d',
  /** A subscription of the contract, with named seats. */
  seatSubscription: 'c0000000-0000-4000-8000-00000000000e',
  professionalService: 'c0000000-0000-4000-8000-00000000000f',
  package: 'c0000000-0000-4000-8000-000000000010',
  /** Issued. */
  invoice: 'c0000000-0000-4000-8000-000000000011',
  /** The draft of a scheduled charge. */
  draftInvoice: 'c0000000-0000-4000-8000-000000000012',
  voidInvoice: 'c0000000-0000-4000-8000-000000000013',
  /** Voided here after it was paid at its billing provider. */
  paidVoidInvoice: 'c0000000-0000-4000-8000-00000000001d',
  /** Issued, of a contract whose billing provider is your own system. */
  externalInvoice: 'c0000000-0000-4000-8000-00000000001b',
  /** The customer of that invoice. */
  externalCustomer: 'c0000000-0000-4000-8000-0000000000c1',
  openInvoice: 'c0000000-0000-4000-8000-0000000000c0',
  /** A product on that invoice. */
  chargedProduct: 'c0000000-0000-4000-8000-00000000002e',
  creditNote: 'c0000000-0000-4000-8000-00000000002f',
  alert: 'c0000000-0000-4000-8000-000000000014',
  webhook: 'c0000000-0000-4000-8000-000000000015',
  token: 'c0000000-0000-4000-8000-000000000016',
  notification: 'c0000000-0000-4000-8000-000000000017',
  billingConfiguration: 'c0000000-0000-4000-8000-000000000018',
  stripeAccount: 'c0000000-0000-4000-8000-000000000019',
  person: 'c0000000-0000-4000-8000-00000000001e',
  /** A session of the console. */
  session: 'c0000000-0000-4000-8000-00000000001f',
  savedQuery: 'c0000000-0000-4000-8000-00000000001c',
  /** Sets of corrections of events. */
  openCorrection: 'c0000000-0000-4000-8000-000000000030',
  filledCorrection: 'c0000000-0000-4000-8000-000000000031',
  appliedCorrection: 'c0000000-0000-4000-8000-000000000032',
  wrongCorrection: 'c0000000-0000-4000-8000-000000000033',
} as const;

/** A job that has failed. */
export const EXAMPLE_JOB_ID = 4711;

/** The text of an API token. */
export const EXAMPLE_TOKEN = 'th_your_token';

/** The secret of an invitation, after `#`. */
export const EXAMPLE_INVITATION = 'secret_of_the_invitation';

/** A restricted key of an account of Stripe. */
export const EXAMPLE_STRIPE_KEY = 'rk_live_your_restricted_key';
