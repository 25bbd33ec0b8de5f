/** The stores and callbacks of token management. `app/` creates one when the service starts. */
import type { Clock } from '../core/clock.ts';
import type { Database } from '../store/base/database.ts';

export interface AccessContext {
  readonly db: Database;
  readonly clock: Clock;
  /** Called when a token is revoked, with its SHA-256: other processes are notified a moment later. */
  onRevoked(sha256: string): void;
  /** Called when the text of a token is replaced, with a test of the former text. Must not throw. */
  onReplaced(isFormer: (text: string) => boolean, text: string): void;
}
