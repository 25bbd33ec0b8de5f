/** The client of the driver of operations at their limits: the answer to a request, or an error for all but 200. */
export interface LimitsClient {
  readonly get: (path: string) => Promise<unknown>;
  readonly post: (path: string, body: unknown) => Promise<unknown>;
  /** An answer that is not JSON, which is taken and thrown away. */
  readonly take: (path: string) => Promise<unknown>;
}

/** Creates and returns the id. */
export async function created({ post }: LimitsClient, path: string, body: unknown): Promise<string> {
  return ((await post(path, body)) as { data: { id: string } }).data.id;
}

/** Calls `make` for each number below `count`, some at a time. */
export async function inParallel(
  count: number,
  make: (index: number) => Promise<unknown>,
  atOnce = 8,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await make(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, work));
}
