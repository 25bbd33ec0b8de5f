/** Custom fields: metadata that clients attach to objects (docs/explanation/custom-fields.md). */
import type { FieldPath } from './errors.ts';

/** Kinds of objects that keys are declared for, including kinds that this service does not have. */
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

/** Maximum characters of a key. */
export const CUSTOM_FIELD_KEY_LENGTH_MAX = 100;
/** Maximum characters of a value. */
export const CUSTOM_FIELD_VALUE_LENGTH_MAX = 200;
/** Maximum keys of one entity. Also limits the values of one object, which every response with the object includes. */
export const CUSTOM_FIELD_KEYS_PER_ENTITY_MAX = 200;

/** Values by key. */
export type CustomFields = Readonly<Record<string, string>>;

/** Custom fields by the id of their object; objects without any are absent. */
export type CustomFieldsById = ReadonlyMap<string, CustomFields>;

/** The fields of one object in a request. */
export interface ObjectFields {
  readonly entity: CustomFieldEntity;
  readonly entityId: string;
  readonly fields: CustomFields;
  /** The object's place in the request; empty for the request itself. */
  readonly path: FieldPath;
}

/** A copy of an object's fields, empty if it has none. */
export function customFieldsOf(all: CustomFieldsById, id: string): Record<string, string> {
  return { ...all.get(id) };
}
