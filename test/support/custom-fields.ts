/** Custom fields through the API, for tests. */
import type { CustomFieldEntity } from '../../src/core/custom-fields.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';

export const ADD_KEY = '/v1/customFields/addKey';
export const LIST_KEYS = '/v1/customFields/listKeys';
export const REMOVE_KEY = '/v1/customFields/removeKey';
export const SET_VALUES = '/v1/customFields/setValues';
export const DELETE_VALUES = '/v1/customFields/deleteValues';

export async function addKey(
  api: ApiClient,
  entity: CustomFieldEntity,
  key: string,
  { unique = false }: { readonly unique?: boolean } = {},
): Promise<void> {
  await api.post(ADD_KEY, { entity, key, enforce_uniqueness: unique });
}

export async function removeKey(api: ApiClient, entity: CustomFieldEntity, key: string): Promise<void> {
  await api.post(REMOVE_KEY, { entity, key });
}

/** Sends the values; any declared status is fine. */
export function trySetValues(
  api: ApiClient,
  entity: CustomFieldEntity,
  entity_id: string,
  custom_fields: Readonly<Record<string, string>>,
): Promise<ApiAnswer> {
  return api.send('POST', SET_VALUES, { entity, entity_id, custom_fields });
}

export async function setValues(
  api: ApiClient,
  entity: CustomFieldEntity,
  entity_id: string,
  custom_fields: Readonly<Record<string, string>>,
): Promise<void> {
  await api.post(SET_VALUES, { entity, entity_id, custom_fields });
}
