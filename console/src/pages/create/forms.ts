/** The fields of the forms, in the words of people; types, choices and what is required are the API's. */
import type { ChangeKey } from '../../api/resources.ts';
import { type FormField, type FormStep, textOf, type Values } from '../../forms/field.ts';

export interface FormSpec<Key extends ChangeKey> {
  readonly operation: Key;
  /** The heading, and the words of the button. */
  readonly title: string;
  readonly fields: readonly FormField[];
  readonly next?: FormStep<Key>;
  /** Whether its body is an edit of a contract, whose invoices can be previewed. */
  readonly showsCosts?: boolean;
  /** The words of the button, if they are not the title. */
  readonly action?: string;
}

export function form<Key extends ChangeKey>(
  operation: Key,
  title: string,
  fields: readonly FormField[],
  next?: FormStep<Key>,
): FormSpec<Key> {
  return { operation, title, fields, ...(next === undefined ? {} : { next }) };
}

export const CUSTOMER = form('POST /v1/customers', 'Create customer', [
  { at: 'name', label: 'Name', hint: 'As on invoices.' },
  {
    at: 'ingest_aliases',
    label: 'Ingest aliases',
    hint: 'The ids that usage events carry for this customer, one a line.',
  },
  {
    at: 'customer_billing_provider_configurations[0].billing_provider',
    label: 'Billing provider',
    hint: 'Where its invoices are collected. Empty: nowhere yet.',
  },
  {
    at: 'customer_billing_provider_configurations[0].delivery_method',
    label: 'Delivery',
    start: 'direct_to_billing_provider',
    isShown: hasProvider,
  },
  {
    at: 'customer_billing_provider_configurations[0].configuration.stripe_customer_id',
    label: 'Customer at Stripe',
    kind: 'text',
    hint: 'Its id there: cus_…',
    isShown: isAtStripe,
  },
  {
    at: 'customer_billing_provider_configurations[0].configuration.stripe_collection_method',
    label: 'Collection',
    kind: 'text',
    start: 'charge_automatically',
    hint: 'charge_automatically, or send_invoice.',
    isShown: isAtStripe,
  },
  { at: 'custom_fields', label: 'Custom fields' },
]);

function hasProvider(values: Values): boolean {
  return textOf(values, 'customer_billing_provider_configurations[0].billing_provider') !== '';
}

function isAtStripe(values: Values): boolean {
  return textOf(values, 'customer_billing_provider_configurations[0].billing_provider') === 'stripe';
}

const isType =
  (...types: readonly string[]) =>
  (values: Values) =>
    types.includes(textOf(values, 'type'));

export const PRODUCT = form('POST /v1/contract-pricing/products/create', 'Create product', [
  { at: 'name', label: 'Name', hint: 'As on invoices.' },
  {
    at: 'type',
    label: 'Type',
    hint: 'Usage is metered; a subscription is billed each period; fixed products name charges, credits and commits.',
  },
  {
    at: 'billable_metric_id',
    label: 'Metric',
    kind: 'metric',
    hint: 'What counts as its usage.',
    isShown: isType('USAGE'),
  },
  {
    at: 'pricing_group_key',
    label: 'Priced by',
    hint: 'Properties of events that decide the price, one a line: model.',
    isShown: isType('USAGE'),
  },
  {
    at: 'presentation_group_key',
    label: 'Shown by',
    hint: 'Properties by which an invoice splits its lines, one a line.',
    isShown: isType('USAGE'),
  },
  {
    at: 'quantity_conversion.operation',
    label: 'Convert the quantity',
    hint: 'Divide by 1,000,000, for a price per million.',
    isShown: isType('USAGE'),
  },
  {
    at: 'quantity_conversion.conversion_factor',
    label: 'By',
    isShown: (values) => isType('USAGE')(values) && textOf(values, 'quantity_conversion.operation') !== '',
  },
  {
    at: 'composite_product_ids',
    label: 'Products whose spend it takes a share of',
    hint: 'Ids of products, one a line.',
    isShown: isType('COMPOSITE'),
  },
  { at: 'tags', label: 'Tags', hint: 'One a line.' },
]);

export const TOKEN = form('POST /v1/tokens/create', 'Create token', [
  { at: 'name', label: 'Name', hint: 'Who or which program uses it.' },
  { at: 'scope', label: 'Scope', hint: 'Ingest may only send events, read may not change anything.' },
  { at: 'expires_at', label: 'Last day', kind: 'lastDay', hint: 'Empty: it does not expire.' },
]);

export const WEBHOOK = form('POST /v1/webhooks/create', 'Create webhook', [
  { at: 'name', label: 'Name' },
  { at: 'url', label: 'Address', hint: 'With https, on the public internet.' },
  { at: 'event_types', label: 'Messages', hint: 'None chosen: all of them.' },
]);

export const FIELD_KEY = form('POST /v1/customFields/addKey', 'Create custom field', [
  { at: 'entity', label: 'Of' },
  { at: 'key', label: 'Name' },
  { at: 'enforce_uniqueness', label: 'Each value belongs to one object only' },
]);

const COUNTED = /days|percentage|usage/;

export const ALERT = form('POST /v1/alerts/create', 'Create alert', [
  { at: 'name', label: 'Name' },
  { at: 'alert_type', label: 'Watches' },
  {
    at: 'threshold',
    label: 'Threshold',
    kind: 'money',
    unitAt: 'credit_type_id',
    isMoney: (values) => !COUNTED.test(textOf(values, 'alert_type')),
  },
  {
    at: 'billable_metric_id',
    label: 'Metric',
    kind: 'metric',
    isShown: (values) => textOf(values, 'alert_type') === 'usage_threshold_reached',
  },
  { at: 'customer_id', label: 'Customer', kind: 'customer', hint: 'Empty: every customer.' },
  {
    at: 'evaluate_on_create',
    label: 'Notify of customers who are past it already',
    start: true,
  },
]);
