/** The part of a request that faults, log and hooks see; never the body. */
export interface RequestSummary {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  userAgent: string;
  user: string;
  /** get, list, watch, create …; empty for other paths than those of resources. */
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

/** The effect of a fault on a request. */
export type FaultAction =
  /** Answers with a Status, without carrying the request out. */
  | { action: 'status'; status: number; reason?: string; message?: string; retryAfterSeconds?: number }
  /** Breaks the connection; `after`: once the request has been carried out. */
  | { action: 'reset'; after?: boolean }
  /** Delays the request. */
  | { action: 'latency'; ms: number }
  /** Never answers; `after`: carries the request out. `ifChanged`: only if it changed something, and is then called. */
  | { action: 'hang'; after?: boolean; ifChanged?: () => void };

export type Fault = FaultAction & {
  match: RequestMatch;
  /** How many requests it catches; default one. */
  times?: number;
};

interface Armed {
  fault: Fault;
  left: number;
}

/** The armed faults. */
export class Faults {
  readonly #armed = new Set<Armed>();

  /** Arms a fault. @returns a function that disarms it */
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

  /** Remembers the armed faults. @returns a function that arms them again, and no others */
  checkpoint(): () => void {
    const armed = [...this.#armed].map((each) => ({ ...each }));
    return () => {
      this.#armed.clear();
      for (const each of armed) this.#armed.add({ ...each });
    };
  }

  /** Takes the fault that catches this request. */
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

/** Returns whether the request matches. */
export function catches(match: RequestMatch, request: RequestSummary): boolean {
  return (
    (match.method === undefined || match.method === request.method) &&
    (match.verb === undefined || match.verb === request.verb) &&
    (match.user === undefined || match.user === request.user) &&
    (match.path === undefined || match.path.test(request.path)) &&
    (match.userAgent === undefined || match.userAgent.test(request.userAgent))
  );
}
