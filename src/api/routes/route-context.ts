/** The context of routes: those of the layers below, and the parts of the running process. */
import type { AccessContext } from '../../access/access-context.ts';
import type { ConsoleSessions } from '../../access/console-sessions.ts';
import type { DashboardLinks } from '../../access/dashboard-links.ts';
import type { Passkeys } from '../../access/passkeys.ts';
import type { ProviderSignIn } from '../../access/provider-sign-in.ts';
import type { TakeRequest } from '../../access/rate-limits.ts';
import type { SignInLog } from '../../access/sign-in-log.ts';
import type { BillingContext } from '../../billing/billing-context.ts';
import type { Holds } from '../../billing/holds/holds.ts';
import type { NetworkService } from '../../core/network-services.ts';
import type { Seller } from '../../core/seller.ts';
import type { ClockJobs, SandboxClock } from '../../jobs/service-clock.ts';
import type { NotificationContext } from '../../notifications/notification-context.ts';
import type { InvoicePdf } from '../pdf/invoice-pdf.ts';

/** The context of the routes that only need stores and settings. */
export interface CatalogueRouteContext extends BillingContext {
  /** As printed on PDFs. */
  readonly seller: Seller;
  readonly invoicePdf: InvoicePdf;
  /** Decimals of the amounts of lines on PDFs; undefined: all digits. */
  readonly invoiceDecimals: number | undefined;
}

export interface RouteContext extends CatalogueRouteContext, NotificationContext, AccessContext {
  readonly holds: Holds;
  readonly sessions: ConsoleSessions;
  readonly passkeys: Passkeys;
  readonly signIns: SignInLog;
  /** Null: nobody signs in at an identity provider. */
  readonly providerSignIn: ProviderSignIn | null;
  /** Links to dashboards of customers. */
  readonly links: DashboardLinks;
  /** Undefined: request rates are not limited. */
  readonly takeRequest: TakeRequest | undefined;
  readonly networkServices: readonly NetworkService[];
  /** Writes when tokens were used last, so that a list shows it. */
  flushTokenUses(): Promise<void>;
  /** Null: the service runs by the system's clock. */
  readonly sandbox: Sandbox | null;
}

export interface Sandbox {
  readonly clock: SandboxClock;
  /** Work that falls due when the clock is moved. */
  readonly jobs: ClockJobs;
}
