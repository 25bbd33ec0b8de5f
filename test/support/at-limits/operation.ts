import type { LimitsClient } from './client.ts';
import type { LimitsWorld } from './world.ts';

export interface OperationAtLimit {
  /** As in the OpenAPI document. */
  readonly operation: string;
  /** The part of the request or of the stored objects that is at its limit. */
  readonly at: string;
  /** Whether a repetition is refused. */
  readonly isDoneOnce?: boolean;
  readonly call: (client: LimitsClient, world: LimitsWorld) => Promise<unknown>;
}
