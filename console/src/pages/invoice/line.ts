/** Invoices and their lines, in the form of the API. */
import type { Schemas } from '../../api/operations.gen.d.ts';

export type Invoice = Schemas['Invoice'];
export type Line = Schemas['InvoiceLineItem'];
