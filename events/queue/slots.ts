import type { ReconcileKey } from '../../shared/runtime/key.ts';

/** Long runs only wait for a network: all runs together may be this many times the slots. */
const RUNS_PER_SLOT = 5;
/** This share is not for tenants whose last run was long. */
const RESERVE = 0.2;
/** More tenants than any landscape has. */
const MOST_SLOW = 10_000;

/**
 * Who may start a run. A slot is a share of the processor; a run gives it back at its end, or once it lasts so long that
 * it must be waiting for a network. Runs that have given theirs back still count among all runs, which are limited too.
 *
 * Of slots and of all runs, a cluster may take more only while it holds fewer than are free, and a project of it only
 * while it holds fewer than the cluster may still take. With k busy clusters, each holds 1/(k+1) of the slots and as much
 * stays free; the same holds for the projects of a cluster. Tenants whose last run was long leave 20 % of what such
 * tenants may hold together, so that hanging runs never occupy everything for long (decision 25).
 */
export type Slots = ReturnType<typeof createSlots>;

/** Creates the slots of one function. */
export function createSlots(concurrency: number) {
  const working = new Limited(concurrency);
  const runs = new Limited(concurrency * RUNS_PER_SLOT);
  const slow = new Set<string>();
  const isSlow = (tenant: Tenant) => slow.has(idOf(tenant));
  return {
    /** Returns how many slots and runs the cluster may still take; none at 0 or less. */
    roomFor: (cluster: string) => Math.min(working.all.roomFor(cluster), runs.all.roomFor(cluster)),
    /** Returns whether a run for this tenant may start. */
    has: (tenant: Tenant) => working.has(tenant, isSlow(tenant)) && runs.has(tenant, isSlow(tenant)),
    start(tenant: Tenant) {
      working.add(tenant, 1, isSlow(tenant));
      runs.add(tenant, 1, isSlow(tenant));
    },
    /** The run lasts: it gives its slot back and counts as a run only. */
    release(tenant: Tenant) {
      working.add(tenant, -1, isSlow(tenant));
      if (isSlow(tenant) || slow.size >= MOST_SLOW) return;
      slow.add(idOf(tenant));
      for (const limited of [working, runs]) limited.count(tenant, true);
    },
    /** @param released true if its slot was given back before */
    end(tenant: Tenant, released: boolean) {
      if (!released) working.add(tenant, -1, isSlow(tenant));
      runs.add(tenant, -1, isSlow(tenant));
      if (released || !slow.delete(idOf(tenant))) return;
      for (const limited of [working, runs]) limited.count(tenant, false);
    },
    /** How many runs hold a slot, and how many there are. */
    counts: () => ({ working: working.all.total, runs: runs.all.total }),
  };
}

/** What tenants hold of something that is limited, and what slow ones among them do. */
class Limited {
  readonly all: Holdings;
  readonly #ofSlow: Holdings;

  constructor(limit: number) {
    this.all = new Holdings(limit);
    this.#ofSlow = new Holdings(limit);
  }

  /** A slow tenant leaves the reserve beside what slow ones hold: others, whose runs are short, never keep it waiting. */
  has(tenant: Tenant, isSlow: boolean): boolean {
    return this.all.has(tenant, 0) && (!isSlow || this.#ofSlow.has(tenant, RESERVE));
  }

  add(tenant: Tenant, by: number, isSlow: boolean): void {
    this.all.add(tenant, by);
    if (isSlow) this.#ofSlow.add(tenant, by);
  }

  /** The tenant has become slow, or is so no longer. */
  count(tenant: Tenant, isSlow: boolean): void {
    const held = this.all.of(idOf(tenant));
    this.#ofSlow.add(tenant, isSlow ? held : -held);
  }
}

/** What each cluster and project holds of something that is limited. */
class Holdings {
  total = 0;
  readonly #limit: number;
  readonly #held = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  roomFor(cluster: string): number {
    return this.#limit - this.total - this.of(cluster);
  }

  has(tenant: Tenant, reserve: number): boolean {
    // `Infinity * 0` is NaN.
    const reserved = reserve === 0 ? 0 : Math.floor(this.#limit * reserve);
    return this.of(idOf(tenant)) < this.roomFor(tenant.cluster) - reserved;
  }

  add(tenant: Tenant, by: number): void {
    this.total += by;
    for (const id of [tenant.cluster, idOf(tenant)]) {
      const held = this.of(id) + by;
      if (held === 0) this.#held.delete(id);
      else this.#held.set(id, held);
    }
  }

  /** Returns what a cluster or a project holds. */
  of(id: string): number {
    return this.#held.get(id) ?? 0;
  }
}

/** Names of clusters have no `/`. */
function idOf({ cluster, project }: Tenant): string {
  return `${cluster}/${project}`;
}

/** The owner of a run: slots are shared fairly between clusters, and between the projects of a cluster. */
export interface Tenant {
  cluster: string;
  project: string;
}

/**
 * Returns the tenant of a key. A control plane is `shoot--<project>--<shoot>`, and a project's namespace in the garden
 * is `garden-<project>` unless the project chose another name, which then stands for it.
 */
export function tenantOf({ cluster, namespace }: ReconcileKey): Tenant {
  const [, project = namespace] = /^(?:shoot--(.+?)--.|garden-(?=.))/.exec(namespace) ?? [];
  return { cluster, project: project === namespace ? namespace.replace(/^garden-(?=.)/, '') : project };
}
