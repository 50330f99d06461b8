import type { ConfigIssue } from '../errors.ts';
import type { Place } from './place.ts';
import type { LabelSelector } from './selected.ts';

/** A YAML document in a key of `flux-config`: its value, or what is wrong with it. */
export type YamlText = { value: unknown } | { problem: string };

/** One entry of `overrides.yaml`. */
export interface Override {
  selector: LabelSelector;
  /** Its `config`, as the user wrote it. */
  config: unknown;
  place: Place;
}

/** The entries of `overrides.yaml`, in their order, and what keeps them from being read. */
export interface Overrides {
  entries: Override[];
  /** About the list, an entry or a selector: it is unknown which Shoots it is about, so it concerns all of them. */
  issues: ConfigIssue[];
}

/** A number of Shoots, or a percentage of all Shoots of the project, for example `10%`. */
export type Amount = number | string;

/** How an edit reaches the Shoots of a project. */
export interface Rollout {
  maxInProgress: Amount;
  maxFailed: Amount;
  /** The key of a label of the Shoots. */
  order?: string | undefined;
  /** True: a Shoot is changed only in its maintenance window. */
  maintenanceWindow?: boolean | undefined;
}

/** The key `rollout`, and what is wrong with it. */
export interface RolloutDocument {
  /** Undefined: it says nothing, or cannot be read. */
  rollout: Rollout | undefined;
  issues: ConfigIssue[];
}

/** What the keys with YAML hold; undefined or absent: nothing. */
export interface Documents {
  config: YamlText | undefined;
  overrides: Overrides | undefined;
  rollout?: RolloutDocument | undefined;
}
