/** One request of a running service, measured. */
import type { TemporaryService } from './temporary-service.ts';

/** Milliseconds that passed, of CPU time of the service, and for which the event loop was held at most. */
export interface MeasuredRequest {
  readonly passed: number;
  readonly cpu: number;
  readonly hold: number;
}

export async function timed(
  service: TemporaryService,
  work: () => Promise<unknown>,
): Promise<MeasuredRequest> {
  await service.longestHoldMs();
  const [start, cpuSeconds] = [performance.now(), await service.cpuSeconds()];
  await work();
  return {
    passed: performance.now() - start,
    cpu: ((await service.cpuSeconds()) - cpuSeconds) * 1_000,
    hold: await service.longestHoldMs(),
  };
}
