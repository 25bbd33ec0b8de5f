/** Fields that several operations of holds share. */
import { z } from 'zod';

export const properties = z
  .record(z.string(), z.unknown())
  .meta({ description: 'As in an event. Numbers keep every digit.' });

/** Why something is not granted. */
export const HOLD_REASONS = [
  'balance',
  'spend_limit',
  'not_entitled',
  'unpriced',
  'customer_not_found',
  'not_priceable',
] as const;
