/** The issuer of the invoices, as printed on their PDFs. From the configuration. */
export interface Seller {
  readonly name: string | null;
  /** Line by line. */
  readonly address: readonly string[];
  readonly taxId: string | null;
  readonly email: string | null;
  /** Payment details and legal notes below the total, line by line. */
  readonly note: readonly string[];
}

export const NO_SELLER: Seller = { name: null, address: [], taxId: null, email: null, note: [] };
