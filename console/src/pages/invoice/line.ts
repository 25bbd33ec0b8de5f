/** Invoices and their lines, as the API has them. */
import type { Schemas } from '../../api/operations.gen.d.ts';

export type Invoice = Schemas['Invoice'];
export type Line = Schemas['InvoiceLineItem'];
