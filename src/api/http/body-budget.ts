/**
 * Bounds the memory of all request bodies together.
 *
 * A body holds its bytes from their arrival until the request is answered. If there is no room, the body that has been
 * arriving for the longest is refused: a client that sends at once is never refused because of clients that do
 * not finish.
 */
import { Refusal } from '../../core/errors.ts';

/** The share of one body. */
export interface BodyShare {
  /** Takes room for bytes that have arrived. Refuses with `overloaded` if there is none. */
  take(bytes: number): void;
  /** All bytes are there: the body is no longer refused for the sake of others. */
  complete(): void;
  /** Gives all its room back. May be called more than once. */
  release(): void;
}

export interface BodyBudget {
  /** `refuse` is called if the body has to give way while it arrives. */
  open(refuse: (refusal: Refusal) => void): BodyShare;
  /** Bytes held now. */
  held(): number;
}

interface Arriving {
  bytes: number;
  refuse(refusal: Refusal): void;
}

export function createBodyBudget(bytesMax: number): BodyBudget {
  let held = 0;
  /** In the order of their arrival. */
  const arriving = new Set<Arriving>();

  function giveBack(body: Arriving): void {
    arriving.delete(body);
    held -= body.bytes;
    body.bytes = 0;
  }

  function makeRoom(bytes: number, own: Arriving): void {
    for (const oldest of arriving) {
      if (held + bytes <= bytesMax) return;
      if (oldest === own) continue;
      giveBack(oldest);
      oldest.refuse(full());
    }
    if (held + bytes > bytesMax) throw full();
  }

  return {
    open(refuse) {
      const body: Arriving = { bytes: 0, refuse };
      arriving.add(body);
      return {
        take(bytes) {
          if (held + bytes > bytesMax) makeRoom(bytes, body);
          held += bytes;
          body.bytes += bytes;
        },
        complete: () => void arriving.delete(body),
        release: () => giveBack(body),
      };
    },
    held: () => held,
  };
}

function full(): Refusal {
  return new Refusal('overloaded', 'Too many request bodies are arriving at once: try again later');
}
