/** How long a customer's name may be. */

const CUSTOMER_NAME_LENGTH_MAX = 160;

/** Longer names are cut, not refused. Whole characters are kept, also those of two UTF-16 units. */
export function customerName(text: string): string {
  if (text.length <= CUSTOMER_NAME_LENGTH_MAX) return text;
  return Array.from(text).slice(0, CUSTOMER_NAME_LENGTH_MAX).join('');
}
