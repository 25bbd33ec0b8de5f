/** The words of dashboards in every language. A new word does not compile until each language has it. */
import type { Language } from '../format/language.ts';

export interface Words {
  readonly titles: Readonly<Record<'invoices' | 'usage' | 'commits_and_credits' | 'credits', string>>;
  readonly states: Readonly<Record<string, string>>;
  readonly kinds: Readonly<Record<string, string>>;
  /**
   * Words for ledger entries, by the part of the type after the kind of balance; for postpaid commits, by the whole
   * type.
   */
  readonly entries: Readonly<Record<string, string>>;
  readonly invoice: string;
  readonly draft: string;
  readonly numberFollows: string;
  readonly state: string;
  readonly period: string;
  readonly date: string;
  readonly due: string;
  readonly toPay: string;
  readonly total: string;
  readonly line: string;
  readonly quantity: string;
  readonly price: string;
  readonly amount: string;
  readonly tier: string;
  readonly prorated: string;
  /** The note on an amount that counts towards a postpaid commit. */
  readonly counted: string;
  readonly allInvoices: string;
  readonly draftNote: string;
  readonly noInvoices: string;
  readonly metric: string;
  readonly by: string;
  readonly noGroup: string;
  readonly from: string;
  readonly to: string;
  readonly windows: string;
  readonly days: string;
  readonly hours: string;
  readonly usage: string;
  readonly noValue: string;
  readonly noMetrics: string;
  readonly noUsage: string;
  readonly left: string;
  /** For a postpaid commit: the amount left is not the customer's money. */
  readonly toSpend: string;
  /** Introduces the grant of which an amount is left. */
  readonly of: string;
  readonly ledger: string;
  readonly when: string;
  readonly entry: string;
  readonly course: string;
  readonly noEntries: string;
  readonly noBalances: string;
  readonly pages: string;
  readonly ended: string;
}

const en: Words = {
  titles: {
    invoices: 'Invoices',
    usage: 'Usage',
    commits_and_credits: 'Commits and credits',
    credits: 'Credits',
  },
  states: { DRAFT: 'draft', FINALIZED: 'final', VOID: 'void' },
  kinds: { PREPAID: 'prepaid commit', POSTPAID: 'postpaid commit', CREDIT: 'credit' },
  entries: {
    SEGMENT_START: 'Granted',
    POSTPAID_COMMIT_INITIAL_BALANCE: 'Agreed',
    POSTPAID_COMMIT_AUTOMATED_INVOICE_DEDUCTION: 'Counted towards it',
    INITIAL_BALANCE: 'Granted',
    MANUAL: 'Adjustment',
    SEAT_BASED_ADJUSTMENT: 'Adjustment for seats',
    AUTOMATED_INVOICE_DEDUCTION: 'Used',
    CREDITED: 'Returned',
    ROLLOVER: 'Rolled over',
    TRUEUP: 'Settled',
    CANCELED: 'Canceled',
    EXPIRATION: 'Expired',
  },
  invoice: 'Invoice',
  draft: 'Draft',
  numberFollows: 'number follows',
  state: 'State',
  period: 'Period (UTC)',
  date: 'Issued or expected',
  due: 'Due',
  toPay: 'To pay',
  total: 'Total',
  line: 'Line',
  quantity: 'Quantity',
  price: 'Unit price',
  amount: 'Amount',
  tier: 'tier',
  prorated: 'part of a period',
  counted: 'counts towards it, not deducted',
  allInvoices: 'All invoices',
  draftNote: 'A draft changes with usage until it is final.',
  noInvoices: 'There is no invoice yet.',
  metric: 'Usage of',
  by: 'By',
  noGroup: 'all together',
  from: 'From (UTC)',
  to: 'Before (UTC)',
  windows: 'In',
  days: 'days',
  hours: 'hours',
  usage: 'Usage over time',
  noValue: 'other',
  noMetrics: 'Nothing is measured at present.',
  noUsage: 'There is no usage in this time.',
  left: 'left',
  toSpend: 'still to be spent',
  of: 'of',
  ledger: 'Entries',
  when: 'Day (UTC)',
  entry: 'Entry',
  course: 'Balance over time',
  noEntries: 'There is no entry yet.',
  noBalances: 'There is no balance.',
  pages: 'Pages',
  ended: 'This view has ended. Load the page around it again.',
};

const de: Words = {
  titles: {
    invoices: 'Rechnungen',
    usage: 'Verbrauch',
    commits_and_credits: 'Kontingente und Guthaben',
    credits: 'Guthaben',
  },
  states: { DRAFT: 'Entwurf', FINALIZED: 'endgültig', VOID: 'storniert' },
  kinds: { PREPAID: 'vorausbezahlt', POSTPAID: 'nachträglich bezahlt', CREDIT: 'Guthaben' },
  entries: {
    SEGMENT_START: 'Gewährt',
    POSTPAID_COMMIT_INITIAL_BALANCE: 'Vereinbart',
    POSTPAID_COMMIT_AUTOMATED_INVOICE_DEDUCTION: 'Angerechnet',
    INITIAL_BALANCE: 'Gewährt',
    MANUAL: 'Anpassung',
    SEAT_BASED_ADJUSTMENT: 'Anpassung an Plätze',
    AUTOMATED_INVOICE_DEDUCTION: 'Verbraucht',
    CREDITED: 'Gutgeschrieben',
    ROLLOVER: 'Übertragen',
    TRUEUP: 'Ausgeglichen',
    CANCELED: 'Aufgehoben',
    EXPIRATION: 'Verfallen',
  },
  invoice: 'Rechnung',
  draft: 'Entwurf',
  numberFollows: 'Nummer folgt',
  state: 'Stand',
  period: 'Zeitraum (UTC)',
  date: 'Ausgestellt oder erwartet',
  due: 'Fällig',
  toPay: 'Zu zahlen',
  total: 'Summe',
  line: 'Posten',
  quantity: 'Menge',
  price: 'Einzelpreis',
  amount: 'Betrag',
  tier: 'Stufe',
  prorated: 'anteilig',
  counted: 'werden angerechnet, nicht abgezogen',
  allInvoices: 'Alle Rechnungen',
  draftNote: 'Ein Entwurf ändert sich mit dem Verbrauch, bis er endgültig ist.',
  noInvoices: 'Es gibt noch keine Rechnung.',
  metric: 'Verbrauch von',
  by: 'Nach',
  noGroup: 'alles zusammen',
  from: 'Von (UTC)',
  to: 'Vor (UTC)',
  windows: 'In',
  days: 'Tagen',
  hours: 'Stunden',
  usage: 'Verbrauch im Verlauf',
  noValue: 'sonstige',
  noMetrics: 'Zurzeit wird nichts gemessen.',
  noUsage: 'In dieser Zeit gibt es keinen Verbrauch.',
  left: 'übrig',
  toSpend: 'noch abzunehmen',
  of: 'von',
  ledger: 'Buchungen',
  when: 'Tag (UTC)',
  entry: 'Buchung',
  course: 'Stand im Verlauf',
  noEntries: 'Es gibt noch keine Buchung.',
  noBalances: 'Es gibt kein Guthaben.',
  pages: 'Seiten',
  ended: 'Diese Ansicht ist abgelaufen. Bitte die Seite neu laden.',
};

const es: Words = {
  titles: {
    invoices: 'Facturas',
    usage: 'Consumo',
    commits_and_credits: 'Compromisos y créditos',
    credits: 'Créditos',
  },
  states: { DRAFT: 'borrador', FINALIZED: 'definitiva', VOID: 'anulada' },
  kinds: { PREPAID: 'compromiso de prepago', POSTPAID: 'compromiso de pospago', CREDIT: 'crédito' },
  entries: {
    SEGMENT_START: 'Concedido',
    POSTPAID_COMMIT_INITIAL_BALANCE: 'Acordado',
    POSTPAID_COMMIT_AUTOMATED_INVOICE_DEDUCTION: 'Contado',
    INITIAL_BALANCE: 'Concedido',
    MANUAL: 'Ajuste',
    SEAT_BASED_ADJUSTMENT: 'Ajuste por puestos',
    AUTOMATED_INVOICE_DEDUCTION: 'Consumido',
    CREDITED: 'Devuelto',
    ROLLOVER: 'Traspasado',
    TRUEUP: 'Liquidado',
    CANCELED: 'Cancelado',
    EXPIRATION: 'Caducado',
  },
  invoice: 'Factura',
  draft: 'Borrador',
  numberFollows: 'número pendiente',
  state: 'Estado',
  period: 'Periodo (UTC)',
  date: 'Emitida o prevista',
  due: 'Vencimiento',
  toPay: 'A pagar',
  total: 'Total',
  line: 'Concepto',
  quantity: 'Cantidad',
  price: 'Precio unitario',
  amount: 'Importe',
  tier: 'tramo',
  prorated: 'parte de un periodo',
  counted: 'cuentan para él, no se deducen',
  allInvoices: 'Todas las facturas',
  draftNote: 'Un borrador cambia con el consumo hasta que es definitivo.',
  noInvoices: 'Todavía no hay facturas.',
  metric: 'Consumo de',
  by: 'Por',
  noGroup: 'todo junto',
  from: 'Desde (UTC)',
  to: 'Antes de (UTC)',
  windows: 'En',
  days: 'días',
  hours: 'horas',
  usage: 'Consumo en el tiempo',
  noValue: 'otros',
  noMetrics: 'Ahora no se mide nada.',
  noUsage: 'No hay consumo en este tiempo.',
  left: 'disponible',
  toSpend: 'por consumir',
  of: 'de',
  ledger: 'Movimientos',
  when: 'Día (UTC)',
  entry: 'Movimiento',
  course: 'Saldo en el tiempo',
  noEntries: 'Todavía no hay movimientos.',
  noBalances: 'No hay saldo.',
  pages: 'Páginas',
  ended: 'Esta vista ha caducado. Vuelva a cargar la página.',
};

const fr: Words = {
  titles: {
    invoices: 'Factures',
    usage: 'Consommation',
    commits_and_credits: 'Engagements et crédits',
    credits: 'Crédits',
  },
  states: { DRAFT: 'brouillon', FINALIZED: 'définitive', VOID: 'annulée' },
  kinds: { PREPAID: 'engagement prépayé', POSTPAID: 'engagement postpayé', CREDIT: 'crédit' },
  entries: {
    SEGMENT_START: 'Accordé',
    POSTPAID_COMMIT_INITIAL_BALANCE: 'Convenu',
    POSTPAID_COMMIT_AUTOMATED_INVOICE_DEDUCTION: 'Imputé',
    INITIAL_BALANCE: 'Accordé',
    MANUAL: 'Ajustement',
    SEAT_BASED_ADJUSTMENT: 'Ajustement des postes',
    AUTOMATED_INVOICE_DEDUCTION: 'Consommé',
    CREDITED: 'Restitué',
    ROLLOVER: 'Reporté',
    TRUEUP: 'Soldé',
    CANCELED: 'Annulé',
    EXPIRATION: 'Expiré',
  },
  invoice: 'Facture',
  draft: 'Brouillon',
  numberFollows: 'numéro à venir',
  state: 'État',
  period: 'Période (UTC)',
  date: 'Émise ou prévue',
  due: 'Échéance',
  toPay: 'À payer',
  total: 'Total',
  line: 'Ligne',
  quantity: 'Quantité',
  price: 'Prix unitaire',
  amount: 'Montant',
  tier: 'palier',
  prorated: 'partie d’une période',
  counted: 'comptent dans cet engagement, sans être déduits',
  allInvoices: 'Toutes les factures',
  draftNote: 'Un brouillon change avec la consommation jusqu’à ce qu’il soit définitif.',
  noInvoices: 'Il n’y a pas encore de facture.',
  metric: 'Consommation de',
  by: 'Par',
  noGroup: 'tout ensemble',
  from: 'Depuis (UTC)',
  to: 'Avant (UTC)',
  windows: 'En',
  days: 'jours',
  hours: 'heures',
  usage: 'Consommation dans le temps',
  noValue: 'autres',
  noMetrics: 'Rien n’est mesuré actuellement.',
  noUsage: 'Il n’y a pas de consommation dans cette période.',
  left: 'restant',
  toSpend: 'restant à consommer',
  of: 'sur',
  ledger: 'Écritures',
  when: 'Jour (UTC)',
  entry: 'Écriture',
  course: 'Solde dans le temps',
  noEntries: 'Il n’y a pas encore d’écriture.',
  noBalances: 'Il n’y a pas de solde.',
  pages: 'Pages',
  ended: 'Cette vue a expiré. Rechargez la page.',
};

export const WORDS: Readonly<Record<Language, Words>> = { en, de, es, fr };
