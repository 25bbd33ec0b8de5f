/**
 * Requests that are being answered. A request whose client has gone has no connection and still reads the stores, so
 * the end of the service waits for requests and not only for connections.
 */

type Fetch = (request: Request, bindings?: object) => Response | Promise<Response>;

export interface RunningRequests {
  fetch: Fetch;
  /** Resolves when no answer is being computed. */
  ended(): Promise<void>;
}

export function createRunningRequests(fetch: Fetch): RunningRequests {
  let running = 0;
  let waiting: (() => void)[] = [];
  const end = () => {
    running -= 1;
    if (running > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    fetch(request, bindings) {
      const answer = fetch(request, bindings);
      if (answer instanceof Promise) {
        running += 1;
        answer.then(end, end);
      }
      return answer;
    },
    ended: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
