/** What a fault, the log and a hook see of a request; never its body. */
export interface RequestSummary {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  userAgent: string;
  user: string;
  /** get, list, watch, create …; empty for what is no resource. */
  verb: string;
}

export interface RequestMatch {
  method?: string;
  verb?: string;
  /** Tested against the path without the query. */
  path?: RegExp;
  userAgent?: RegExp;
  user?: string;
}

/** What happens to a request that a fault catches. */
export type FaultAction =
  /** Answered with a Status, before anything is done. */
  | { action: 'status'; status: number; reason?: string; message?: string; retryAfterSeconds?: number }
  /** The connection breaks; `after`: only when the request has been carried out. */
  | { action: 'reset'; after?: boolean }
  /** Carried out later. */
  | { action: 'latency'; ms: number }
  /** Never answered; `after`: but carried out. `ifChanged`: only when it has changed something, and then it is called. */
  | { action: 'hang'; after?: boolean; ifChanged?: () => void };

export type Fault = FaultAction & {
  match: RequestMatch;
  /** How often; default once. */
  times?: number;
};

interface Armed {
  fault: Fault;
  left: number;
}

/** The faults that wait for requests. */
export class Faults {
  readonly #armed = new Set<Armed>();

  /** Arms a fault. @returns what disarms it */
  add(fault: Fault): () => void {
    const armed = { fault, left: fault.times ?? 1 };
    this.#armed.add(armed);
    return () => {
      this.#armed.delete(armed);
    };
  }

  clear(): void {
    this.#armed.clear();
  }

  /** The fault that catches this request, used up by it. */
  take(request: RequestSummary): Fault | undefined {
    for (const armed of this.#armed) {
      if (!catches(armed.fault.match, request)) continue;
      armed.left--;
      if (armed.left <= 0) this.#armed.delete(armed);
      return armed.fault;
    }
    return undefined;
  }
}

/** Whether a request is meant. */
export function catches(match: RequestMatch, request: RequestSummary): boolean {
  return (
    (match.method === undefined || match.method === request.method) &&
    (match.verb === undefined || match.verb === request.verb) &&
    (match.user === undefined || match.user === request.user) &&
    (match.path === undefined || match.path.test(request.path)) &&
    (match.userAgent === undefined || match.userAgent.test(request.userAgent))
  );
}
