/** Limits the length of a customer's name. */

const CUSTOMER_NAME_LENGTH_MAX = 160;

/** Longer names are cut, not refused. Surrogate pairs are not split. */
export function customerName(text: string): string {
  if (text.length <= CUSTOMER_NAME_LENGTH_MAX) return text;
  return Array.from(text).slice(0, CUSTOMER_NAME_LENGTH_MAX).join('');
}
