/** Custom fields: metadata that clients attach to objects (docs/custom-fields.md). */
import type { FieldPath } from './errors.ts';

/** What keys are declared for. Of some kinds there are no objects here; their keys can be kept all the same. */
export const CUSTOM_FIELD_ENTITIES = [
  'alert',
  'billable_metric',
  'charge',
  'commit',
  'contract_credit',
  'contract_product',
  'contract',
  'customer',
  'discount',
  'invoice',
  'professional_service',
  'product',
  'rate_card',
  'scheduled_charge',
  'subscription',
  'package_commit',
  'package_credit',
  'package_subscription',
  'package_scheduled_charge',
] as const;
export type CustomFieldEntity = (typeof CUSTOM_FIELD_ENTITIES)[number];

/** Characters of a key. */
export const CUSTOM_FIELD_KEY_LENGTH_MAX = 100;
/** Characters of a value. */
export const CUSTOM_FIELD_VALUE_LENGTH_MAX = 200;
/** Keys of one entity, and with that values of one object: what every answer that shows it has to carry. */
export const CUSTOM_FIELD_KEYS_PER_ENTITY_MAX = 200;

/** Values by key. */
export type CustomFields = Readonly<Record<string, string>>;

/** By the id of their object; objects without any are absent. */
export type CustomFieldsById = ReadonlyMap<string, CustomFields>;

/** The fields of one object as a request gives them. */
export interface ObjectFields {
  readonly entity: CustomFieldEntity;
  readonly entityId: string;
  readonly fields: CustomFields;
  /** The object's place in the request; empty for the request itself. */
  readonly path: FieldPath;
}

/** A copy of an object's fields, empty where it has none. */
export function customFieldsOf(all: CustomFieldsById, id: string): Record<string, string> {
  return { ...all.get(id) };
}
